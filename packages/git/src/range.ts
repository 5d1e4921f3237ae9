import { GitError } from './errors.ts';
import { lastLine, runGit, tryGit } from './git.ts';

/** A commit of a range with its parents in git's order. */
export interface RangeCommit {
  sha: string;
  parents: string[];
}

/** Runs git in `repo` (bare or a work tree) as runGit does; returns what it printed. Throws KD_GIT. */
export async function git(repo: string, args: string[]): Promise<string> {
  return await runGit(args, { cwd: repo });
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
  const result = await tryGit(args, { cwd: repo });
  if (result.code === 1 || result.code === 128) return null;
  if (result.code !== 0) throw new GitError('KD_GIT', `git ${args[0]}: ${lastLine(result.stderr)}`);
  return result.stdout.toString('utf8');
}
