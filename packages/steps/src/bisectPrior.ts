import { readFile } from 'node:fs/promises';
import { filesOfRange } from '@kdelta/git';
import { canAffect, type KernelArtifact } from '@kdelta/kernels';
import type { RangeCommit } from '@kdelta/store';
import { commentOnlyCommits } from './commentOnly.ts';

/** Weight of a commit none of whose files takes part in the build, and of a merge, which has no changes but resolutions. */
const uncompiled = 0.02;
const merge = 0.1;
/** Beyond this many commits their files are not read at every turn. */
const mostCommits = 5000;

export interface Prior {
  /** sha → weight, 1 where not named. */
  weights: Record<string, number>;
  /** Commits that are their parent but for comments. */
  commentOnly: Set<string>;
}

/**
 * What a commit weighs before any boot: little when it touches nothing that this kernel is built from (the build's own
 * dependency files tell), never zero. No weights when that isn't known: the kernel is a package, or left the cache.
 */
export async function priorOf(
  gitDir: string,
  range: RangeCommit[],
  ends: { good: string; bad: string },
  artifact: KernelArtifact | null,
): Promise<Prior> {
  const prior: Prior = { weights: {}, commentOnly: new Set() };
  if (range.length > mostCommits) return prior;
  const files = await filesOfRange(gitDir, ends.good, ends.bad).catch(() => null);
  if (files === null) return prior;
  prior.commentOnly = await commentOnlyCommits(gitDir, range, files);
  const listed = artifact?.sources ? await readFile(artifact.sources, 'utf8').catch(() => null) : null;
  if (listed === null) return prior;
  const sources = new Set(listed.split('\n'));
  for (const { sha, parents } of range) {
    if (parents.length > 1) prior.weights[sha] = merge;
    else if (!canAffect(sources, files.get(sha) ?? [])) prior.weights[sha] = uncompiled;
  }
  return prior;
}
