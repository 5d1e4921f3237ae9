import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkRev } from './commit.ts';
import { runGit, tryGit } from './git.ts';

/**
 * A commit on top of `onto` that takes `sha` back (a merge: all that it brought in), kept by a ref under refs/kdelta/reverts/.
 * The same arguments give the same commit, always. Null when it doesn't revert cleanly, or changes nothing.
 */
export async function makeRevert(gitDir: string, sha: string, onto: string): Promise<string | null> {
  const tree = await revertedTree(gitDir, sha, onto);
  if (tree === null || tree === (await runGit(['rev-parse', `${onto}^{tree}`], { gitDir })).trim()) return null;
  const date = (await runGit(['show', '-s', '--format=%ct', '--end-of-options', onto], { gitDir })).trim();
  const subject = (await runGit(['show', '-s', '--format=%s', '--end-of-options', sha], { gitDir })).trim();
  const who = { NAME: 'kdelta', EMAIL: 'kdelta@kdelta.invalid', DATE: `${date} +0000` };
  const env = Object.fromEntries(
    Object.entries(who).flatMap(([key, value]) => [
      [`GIT_AUTHOR_${key}`, value],
      [`GIT_COMMITTER_${key}`, value],
    ]),
  );
  const input = `Revert "${subject}"\n\nThis reverts commit ${sha}, to see whether the old level comes back.\n`;
  const made = (await runGit(['commit-tree', '-p', onto, tree], { gitDir, env, input })).trim();
  await runGit(['update-ref', `refs/kdelta/reverts/${made}`, made], { gitDir });
  return made;
}

/** The tree of `onto` without what `sha` did; null where that conflicts. Nothing is checked out. */
async function revertedTree(gitDir: string, sha: string, onto: string): Promise<string | null> {
  checkRev(sha);
  checkRev(onto);
  const dir = await mkdtemp(join(tmpdir(), 'kdelta-revert-'));
  try {
    const options = { gitDir, env: { GIT_INDEX_FILE: join(dir, 'index') } };
    const patch = await tryGit(['diff-tree', '-p', '--binary', '--full-index', '--end-of-options', sha, `${sha}^`], {
      gitDir,
    });
    if (patch.code !== 0) return null;
    await runGit(['read-tree', '--end-of-options', onto], options);
    if (patch.stdout.length > 0) {
      const apply = ['apply', '--cached', '--3way', '--whitespace=nowarn'];
      if ((await tryGit(apply, { ...options, input: patch.stdout })).code !== 0) return null;
    }
    return (await runGit(['write-tree'], options)).trim();
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
