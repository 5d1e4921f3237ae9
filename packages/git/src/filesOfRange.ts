import { checkRev } from './commit.ts';
import { runGit } from './git.ts';

/** Commit → the files that it changes, for the commits of `good..bad`, with one git. Merges have none of their own. */
export async function filesOfRange(gitDir: string, good: string, bad: string): Promise<Map<string, string[]>> {
  const text = await runGit(
    [
      'log',
      '--no-renames',
      '--name-only',
      '--diff-merges=off',
      '-z',
      '--format=%x01%H',
      '--end-of-options',
      `${checkRev(good)}..${checkRev(bad)}`,
    ],
    { gitDir },
  );
  const files = new Map<string, string[]>();
  // `\x01<sha>\0\n<file>\0<file>\0…`, one block per commit; a file's name can't hold a NUL.
  for (const block of text.split('\x01').slice(1)) {
    const [sha, ...names] = block.split('\0');
    files.set(
      sha!.trim(),
      names.map((name) => name.replace(/^\n/, '')).filter((name) => name !== ''),
    );
  }
  return files;
}
