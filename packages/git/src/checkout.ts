import { mkdir, rm } from 'node:fs/promises';
import { checkRev } from './commit.ts';
import { GitError } from './errors.ts';
import { runGit, tryGit } from './git.ts';

export interface Checkout {
  /** Holds the files of the commit and nothing else. */
  dir: string;
  /** Git's index of `dir`, kept outside it: the next checkout writes only what differs. */
  index: string;
}

/**
 * Makes `dir` hold exactly the commit's files, writing only those that differ from what was there, and returns the paths that it
 * wrote or removed; null when everything was new. The repository may be another one than last time. The caller holds a lock on the checkout.
 */
export async function checkoutCommit(
  gitDir: string,
  sha: string,
  checkout: Checkout,
  signal?: AbortSignal,
): Promise<string[] | null> {
  checkRev(sha);
  await mkdir(checkout.dir, { recursive: true });
  // Left by a git that was killed; the lock is ours.
  await rm(`${checkout.index}.lock`, { force: true });
  const options = { gitDir, env: { GIT_INDEX_FILE: checkout.index, GIT_WORK_TREE: checkout.dir }, signal };
  const diff = await tryGit(['diff-index', '--cached', '--name-only', '--no-renames', '-z', sha, '--'], options);
  if (diff.code !== 0) throw new GitError('KD_GIT_UNKNOWN', `no commit ${sha} in ${gitDir}`);
  const known = (await tryGit(['ls-files', '--', 'Makefile'], options)).stdout.length > 0;
  await runGit(['read-tree', '--reset', '-u', sha], options);
  return known ? diff.stdout.toString('utf8').split('\0').filter(Boolean) : null;
}
