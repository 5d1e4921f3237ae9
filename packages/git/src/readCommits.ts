import { type CommitFacts, parseCommit } from './commit.ts';
import { GitError } from './errors.ts';
import { lastLine, tryGit } from './git.ts';

/** Reads many commit objects with one git. Commits that aren't there are left out. Throws KD_GIT. */
export async function readCommits(gitDir: string, shas: string[]): Promise<CommitFacts[]> {
  if (shas.length === 0) return [];
  const result = await tryGit(['cat-file', '--batch'], { gitDir, input: `${shas.join('\n')}\n` });
  if (result.code !== 0) throw new GitError('KD_GIT', `git cat-file: ${lastLine(result.stderr)}`);
  const commits: CommitFacts[] = [];
  const out = result.stdout;
  // `<sha> commit <bytes>\n<content>\n`, or `<sha> missing\n`.
  for (let at = 0; at < out.length; ) {
    const end = out.indexOf(10, at);
    const [sha, type, size] = out.subarray(at, end).toString('latin1').split(' ');
    at = end + 1;
    if (size === undefined) continue;
    const bytes = Number(size);
    if (type === 'commit') commits.push(parseCommit(sha as string, out.subarray(at, at + bytes)));
    at += bytes + 1;
  }
  return commits;
}
