import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { lstat, readdir, readFile, readlink, statfs } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand } from './command.ts';
import { hash } from './deb.ts';
import { KernelError } from './errors.ts';
import type { BuildLimits } from './types.ts';

/*
 * A tree's Makefiles are strangers' code. They run in bubblewrap: own mount, process, network, IPC and host name
 * spaces; of the machine's files only /usr and the linker's cache are there (read-only), beside the source (read-only), the build
 * folder, /tmp and the compiler cache; the environment is empty but for what we set. Started by root, the build runs as a user
 * that owns nothing else; started by anybody else, in a user namespace of its own.
 *
 * bubblewrap limits what a build sees, not what it takes. Address space, processes and file sizes are limited by
 * rlimits, the sum of memory, the output, the disk and the time by looking twice a second: what exceeds a limit is killed, and says which.
 */

/**
 * The user that owns a build folder when kdelta runs as root; no such user needs to exist. One per folder, for the limit on processes
 * counts by user. The numbers lie above those that systemd and containers draw from.
 */
export function buildUid(folder: string): number {
  return 2_000_000_000 + (Number.parseInt(hash(folder).slice(0, 7), 16) % 100_000_000);
}

export interface SandboxMount {
  /** Outside. */
  path: string;
  /** Inside. */
  at: string;
  writable: boolean;
}

export interface SandboxJob {
  /** See buildUid; unused unless root. */
  uid: number;
  argv: string[];
  env: Record<string, string>;
  cwd: string;
  mounts: SandboxMount[];
  limits: BuildLimits;
  /** Everything printed is appended here, up to `limits.outputBytes`. */
  log: string;
  onLine?: (line: string) => void;
  signal?: AbortSignal;
}

/** `cut` names the limit that ended it. */
export interface SandboxResult {
  code: number;
  cut: 'time' | 'memory' | 'processes' | 'output' | 'disk' | 'disk-full' | null;
}

/** Three quarters of the memory, half an hour, 32 MiB of output, 40 GiB of disk, 512 processes. */
export function defaultLimits(overrides: Partial<BuildLimits> = {}): BuildLimits {
  return {
    timeMs: 60 * 60_000,
    memoryBytes: Math.max(2 * 2 ** 30, Math.floor(totalmem() * 0.75)),
    processes: 512 + 16 * availableParallelism(),
    outputBytes: 32 * 2 ** 20,
    diskBytes: 40 * 2 ** 30,
    ...overrides,
  };
}

/**
 * Runs `argv` in the sandbox and returns when all its processes are gone. Throws KD_SANDBOX when bubblewrap can't
 * start on this machine, KD_TOOL_MISSING without it, KD_ABORTED on the signal.
 */
export async function runSandboxed(job: SandboxJob): Promise<SandboxResult> {
  await checkSandbox();
  const child = spawn('bwrap', ['--info-fd', '3', ...(await bwrapArguments(job))], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH },
  });
  const inner = innerPid(child);
  let cut: SandboxResult['cut'] = null;
  const stop = (why: SandboxResult['cut']) => {
    cut ??= why;
    child.kill('SIGKILL');
  };
  const abort = () => child.kill('SIGKILL');
  job.signal?.addEventListener('abort', abort, { once: true });
  if (job.signal?.aborted) abort();
  const output = keepOutput(child, job, () => stop('output'));
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', (cause) => reject(new KernelError('KD_TOOL_MISSING', 'bubblewrap is not installed', { cause })));
    child.on('exit', (code) => resolve(code ?? 137));
  });
  const watching = new AbortController();
  const watch = watchLimits(child.pid ?? 0, job, stop, watching.signal);
  try {
    const code = await ended;
    await reap(await inner);
    await output;
    if (job.signal?.aborted) throw new KernelError('KD_ABORTED', 'the build was stopped');
    return { code, cut };
  } finally {
    watching.abort();
    await watch;
    job.signal?.removeEventListener('abort', abort);
  }
}

let checked: Promise<void> | undefined;

/** Finds out once whether bubblewrap works here. */
export async function checkSandbox(): Promise<void> {
  checked ??= (async () => {
    const job = { uid: buildUid(''), argv: ['true'], env: {}, cwd: '/', mounts: [], limits: defaultLimits() };
    const tried = await runCommand('bwrap', await bwrapArguments(job));
    if (tried.code === 0) return;
    const why = tried.stderr.trim().split('\n').pop();
    throw new KernelError(
      'KD_SANDBOX',
      `builds need bubblewrap, which can't start here (${why}): allow user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns) or run as root`,
    );
  })();
  try {
    await checked;
  } catch (error) {
    checked = undefined;
    throw error;
  }
}

async function bwrapArguments(
  job: Pick<SandboxJob, 'uid' | 'argv' | 'env' | 'cwd' | 'mounts' | 'limits'>,
): Promise<string[]> {
  const root = process.getuid?.() === 0;
  const args = ['--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'];
  args.push('--die-with-parent', '--new-session', '--hostname', 'kdelta', '--clearenv');
  if (root) {
    args.push('--cap-drop', 'ALL');
    for (const cap of ['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP']) args.push('--cap-add', cap);
  } else {
    args.push('--unshare-user');
  }
  args.push('--ro-bind', '/usr', '/usr');
  for (const path of ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']) args.push(...(await systemPath(path)));
  args.push('--perms', '0755', '--dir', '/etc');
  for (const path of ['/etc/alternatives', '/etc/ld.so.cache', '/etc/ssl/openssl.cnf'])
    args.push('--ro-bind-try', path, path);
  args.push('--proc', '/proc', '--dev', '/dev');
  for (const mount of job.mounts) args.push(mount.writable ? '--bind' : '--ro-bind', mount.path, mount.at);
  args.push('--remount-ro', '/dev', '--remount-ro', '/');
  const env = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', HOME: '/tmp', ...job.env };
  for (const [key, value] of Object.entries(env)) args.push('--setenv', key, value);
  args.push('--chdir', job.cwd, '--');
  args.push('choom', '-n', '900', '--', 'nice', '-n', '10');
  if (root) {
    args.push('setpriv', `--reuid=${job.uid}`, `--regid=${job.uid}`, '--clear-groups', '--no-new-privs');
    args.push('--inh-caps=-all', '--bounding-set=-all');
  }
  const { memoryBytes, processes, diskBytes } = job.limits;
  args.push('prlimit', `--as=${memoryBytes}`, `--nproc=${processes}`, `--fsize=${Math.min(diskBytes, 8 * 2 ** 30)}`);
  args.push('--core=0', '--nofile=4096', '--', ...job.argv);
  return args;
}

/** On merged-/usr systems /bin is a link into /usr; elsewhere a folder of its own. */
async function systemPath(path: string): Promise<string[]> {
  const stat = await lstat(path).catch(() => null);
  if (!stat) return [];
  return stat.isSymbolicLink() ? ['--symlink', await readlink(path), path] : ['--ro-bind', path, path];
}

/** The pid, seen from here, of the first process of the sandbox's process namespace. */
async function innerPid(child: ChildProcess): Promise<number | null> {
  let text = '';
  const info = child.stdio[3] as NodeJS.ReadableStream;
  try {
    for await (const chunk of info) text += String(chunk);
    return (JSON.parse(text) as { 'child-pid': number })['child-pid'];
  } catch {
    return null;
  }
}

/** bubblewrap reports the end of its first child; here we wait until the whole process namespace is dead. */
async function reap(pid: number | null): Promise<void> {
  if (pid === null) return;
  for (let i = 0; i < 600; i++) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      return;
    }
    await sleep(i < 20 ? 5 : 50);
  }
}

async function keepOutput(child: ChildProcess, job: SandboxJob, tooMuch: () => void): Promise<void> {
  const file = createWriteStream(job.log, { flags: 'a' });
  let left = job.limits.outputBytes;
  let rest = '';
  const take = (chunk: Buffer) => {
    if (left <= 0) return;
    const kept = chunk.subarray(0, left);
    left -= kept.length;
    file.write(kept);
    if (left <= 0) tooMuch();
    if (!job.onLine) return;
    const lines = (rest + kept.toString('latin1')).split('\n');
    // A line without an end must not grow with the output.
    rest = (lines.pop() ?? '').slice(-4096);
    for (const line of lines) job.onLine(line);
  };
  const closed = [child.stdout, child.stderr].map(
    (stream) =>
      new Promise<void>((resolve) => {
        stream?.on('data', take);
        stream?.on('close', resolve);
        stream?.on('error', () => resolve());
      }),
  );
  await Promise.all(closed);
  await new Promise<void>((resolve, reject) => {
    file.on('error', reject);
    file.end(resolve);
  });
}

async function watchLimits(
  pid: number,
  job: SandboxJob,
  stop: (why: SandboxResult['cut']) => void,
  done: AbortSignal,
): Promise<void> {
  const startMs = performance.now();
  const writable = job.mounts.filter((mount) => mount.writable).map((mount) => mount.path);
  let crowded = 0;
  for (let tick = 1; !done.aborted; tick++) {
    await sleep(500, undefined, { signal: done }).catch(() => {});
    if (done.aborted) return;
    if (performance.now() - startMs > job.limits.timeMs) stop('time');
    const use = await processUse(pid);
    if (use.bytes > job.limits.memoryBytes) stop('memory');
    // A fork bomb stays near the limit; nothing else comes there for two seconds.
    crowded = use.processes >= job.limits.processes * 0.7 ? crowded + 1 : 0;
    if (crowded >= 4) stop('processes');
    for (const path of writable) {
      const disk = await statfs(path);
      if (disk.bavail * disk.bsize < 2 ** 30) stop('disk-full');
    }
    if (tick % 10 === 0 && writable.length > 0) {
      const du = await runCommand('du', ['-s', '-c', '-B1', '--', ...writable], { signal: done }).catch(() => null);
      const total = Number(/(\d+)\ttotal/.exec(du?.stdout ?? '')?.[1] ?? 0);
      if (total > job.limits.diskBytes) stop('disk');
    }
  }
}

/** How many processes descend from `pid`, and the memory they hold together. */
async function processUse(pid: number): Promise<{ processes: number; bytes: number }> {
  const children = new Map<number, { pid: number; bytes: number }[]>();
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  for (const name of pids) {
    const stat = await readFile(`/proc/${name}/stat`, 'latin1').catch(() => '');
    // The name in parentheses may hold spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const parent = Number(fields[1]);
    const entry = { pid: Number(name), bytes: Number(fields[21]) * 4096 };
    const siblings = children.get(parent);
    if (siblings) siblings.push(entry);
    else children.set(parent, [entry]);
  }
  const use = { processes: 0, bytes: 0 };
  const open = [pid];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const child of children.get(next) ?? []) {
      use.processes += 1;
      use.bytes += child.bytes || 0;
      open.push(child.pid);
    }
  }
  return use;
}
