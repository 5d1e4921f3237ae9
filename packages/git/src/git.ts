import { execFile } from 'node:child_process';
import { GitError } from './errors.ts';

/** Nothing of the machine's or the user's git configuration, no hooks, no prompts, no background work. */
const SAFE_CONFIG = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.askPass=true',
  'credential.helper=',
  'safe.directory=*',
  'gc.auto=0',
  'maintenance.auto=false',
  'protocol.ext.allow=never',
  'fetch.fsckObjects=true',
  'fetch.recurseSubmodules=false',
  'submodule.recurse=false',
  'advice.detachedHead=false',
  'core.quotePath=false',
  'diff.external=',
  'checkout.workers=0',
];

export interface GitOptions {
  /** Bare repository (or `.git`). */
  gitDir?: string;
  cwd?: string;
  env?: Record<string, string>;
  input?: string | Buffer;
  signal?: AbortSignal;
  timeoutMs?: number;
  /** Let git read `file:` URLs and paths: only for trees whose configured URL is one. */
  allowFile?: boolean;
}

export interface GitResult {
  code: number;
  stdout: Buffer;
  stderr: string;
}

/** Runs git with hooks, odd transports and other people's configuration off. A non-zero exit is a result. */
export async function tryGit(args: string[], options: GitOptions = {}): Promise<GitResult> {
  const config = SAFE_CONFIG.flatMap((entry) => ['-c', entry]);
  const all = [...(options.gitDir === undefined ? [] : [`--git-dir=${options.gitDir}`]), ...config, ...args];
  return await new Promise((resolve, reject) => {
    const child = execFile(
      'git',
      all,
      {
        cwd: options.cwd,
        env: gitEnvironment(options),
        signal: options.signal,
        timeout: options.timeoutMs,
        killSignal: 'SIGKILL',
        maxBuffer: 1024 * 1024 * 1024,
        encoding: 'buffer',
      },
      (error, stdout, stderr) => {
        const code = (error as { code?: unknown } | null)?.code;
        if (code === 'ENOENT') reject(new GitError('KD_GIT', 'git is not installed'));
        else if (code === 'ABORT_ERR') reject(new GitError('KD_ABORTED', `git ${args[0]} was stopped`));
        else
          resolve({
            code: error ? (typeof code === 'number' ? code : 255) : 0,
            stdout,
            stderr: stderr.toString('utf8'),
          });
      },
    );
    child.stdin?.on('error', () => {});
    child.stdin?.end(options.input);
  });
}

/** The same, its output as text; a non-zero exit throws KD_GIT with git's last line. */
export async function runGit(args: string[], options: GitOptions = {}): Promise<string> {
  const result = await tryGit(args, options);
  if (result.code !== 0) throw new GitError('KD_GIT', `git ${args[0]}: ${lastLine(result.stderr)}`);
  return result.stdout.toString('utf8');
}

export function lastLine(text: string): string {
  const lines = text.trim().split('\n');
  const fatal = lines.find((line) => /^(fatal|error): /.test(line));
  return (fatal ?? lines[lines.length - 1] ?? '').replace(/^(fatal|error): /, '') || 'failed without a message';
}

function gitEnvironment(options: GitOptions): NodeJS.ProcessEnv {
  const { PATH, HOME, SSH_AUTH_SOCK, https_proxy, no_proxy, SSL_CERT_FILE } = process.env;
  return {
    PATH,
    HOME,
    SSH_AUTH_SOCK,
    https_proxy,
    no_proxy,
    SSL_CERT_FILE,
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_ALLOW_PROTOCOL: options.allowFile ? 'https:ssh:git:file' : 'https:ssh:git',
    GIT_SSH_COMMAND: 'ssh -o BatchMode=yes -o ForwardAgent=no -o ForwardX11=no',
    GIT_PROTOCOL_FROM_USER: '0',
    ...options.env,
  };
}
