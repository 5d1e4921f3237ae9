import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { git } from '@kdelta/git';

export interface Head {
  /** Branch as a full ref, null when detached. */
  ref: string | null;
  sha: string;
}

export async function readHead(repo: string): Promise<Head> {
  const sha = (await git(repo, ['rev-parse', '--verify', 'HEAD^{commit}'])).trim();
  const ref = await git(repo, ['symbolic-ref', '--quiet', 'HEAD']).catch(() => '');
  return { ref: ref.trim() || null, sha };
}

/** Checks out a commit, detached. The tree was clean at the start, so changes to tracked files are the command's. */
export async function checkOut(repo: string, sha: string): Promise<void> {
  await git(repo, ['checkout', '--quiet', '--force', '--detach', sha, '--']);
}

/** Puts HEAD and work tree back where they were. */
export async function restoreHead(repo: string, head: Head): Promise<void> {
  await checkOut(repo, head.sha);
  if (head.ref !== null) await git(repo, ['symbolic-ref', 'HEAD', head.ref]);
}

/** Tracked files that were changed, and an operation that is under way; empty when the work tree may be used. */
export async function reasonsNotToTouch(repo: string): Promise<string | null> {
  for (const [file, what] of [
    ['MERGE_HEAD', 'a merge'],
    ['CHERRY_PICK_HEAD', 'a cherry-pick'],
    ['REVERT_HEAD', 'a revert'],
    ['rebase-merge', 'a rebase'],
    ['rebase-apply', 'a rebase'],
    ['BISECT_LOG', 'a git bisect'],
  ] as const)
    if (existsSync(await gitPath(repo, file))) return `${what} is under way: finish it first, or use --no-checkout`;
  const changed = (await git(repo, ['status', '--porcelain', '--untracked-files=no'])).split('\n').filter(Boolean);
  if (changed.length === 0) return null;
  const names = changed.slice(0, 3).map((line) => line.slice(3));
  const more = changed.length > 3 ? ` and ${changed.length - 3} more` : '';
  return `the work tree has changes (${names.join(', ')}${more}): commit or stash them, or use --no-checkout`;
}

export async function gitPath(repo: string, name: string): Promise<string> {
  const path = (await git(repo, ['rev-parse', '--git-path', name])).replace(/\n$/, '');
  return isAbsolute(path) ? path : join(repo, path);
}
