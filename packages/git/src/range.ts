import { execFile } from 'node:child_process';

/** A commit of a range with its parents in git's order. */
export interface RangeCommit {
  sha: string;
  parents: string[];
}

/** What git answered when it failed. Code KD_GIT_FAILED: read `stderr`. */
export class GitError extends Error {
  readonly code = 'KD_GIT_FAILED';
  constructor(
    readonly args: string[],
    readonly status: number | null,
    readonly stderr: string,
  ) {
    super(`git ${args[0]}: ${stderr.trim().split('\n')[0] || `exit status ${status}`}`);
    this.name = 'GitError';
  }
}

/**
 * Runs git in `repo` without a shell, hooks, prompts or odd transports; returns what it printed.
 * Throws GitError on any other exit status than 0.
 */
export function git(repo: string, args: string[]): Promise<string> {
  const safe = ['-c', 'core.hooksPath=/dev/null', '-c', 'protocol.allow=never', '-c', 'core.fsmonitor=false'];
  const env = { ...process.env, LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0' };
  return new Promise((resolve, reject) => {
    execFile('git', [...safe, ...args], { cwd: repo, env, maxBuffer: 1 << 28 }, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      const status = typeof error.code === 'number' ? error.code : null;
      reject(new GitError(args, status, stderr || error.message));
    });
  });
}

/** The full hash of a revision, or null when it names no commit. */
export async function resolveCommit(repo: string, revision: string): Promise<string | null> {
  if (revision === '' || revision.startsWith('-')) return null;
  return (await gitOrNull(repo, ['rev-parse', '--verify', '--quiet', `${revision}^{commit}`]))?.trim() || null;
}

export async function isAncestorOf(repo: string, ancestor: string, descendant: string): Promise<boolean> {
  return (await gitOrNull(repo, ['merge-base', '--is-ancestor', ancestor, descendant])) !== null;
}

/** A best common ancestor, or null for unrelated histories. */
export async function mergeBase(repo: string, a: string, b: string): Promise<string | null> {
  return (await gitOrNull(repo, ['merge-base', a, b]))?.trim().split('\n')[0] || null;
}

/** The commits of `good..bad`, parents before children. `firstParent`: only the line of first parents from bad. */
export async function readRange(
  repo: string,
  good: string,
  bad: string,
  options: { firstParent?: boolean } = {},
): Promise<RangeCommit[]> {
  const args = ['rev-list', '--parents', '--topo-order', '--reverse'];
  if (options.firstParent === true) args.push('--first-parent');
  const out = await git(repo, [...args, bad, `^${good}`, '--']);
  return out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [sha, ...parents] = line.split(' ');
      return { sha: sha!, parents: options.firstParent === true ? parents.slice(0, 1) : parents };
    });
}

/** Null when git answered "no" (status 1, or 128 for a name that it doesn't know). */
async function gitOrNull(repo: string, args: string[]): Promise<string | null> {
  try {
    return await git(repo, args);
  } catch (error) {
    if (error instanceof GitError && (error.status === 1 || error.status === 128)) return null;
    throw error;
  }
}
