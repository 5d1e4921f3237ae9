import { readFile } from 'node:fs/promises';
import { filesOfRange } from '@kdelta/git';
import { canAffect, type KernelArtifact } from '@kdelta/kernels';
import type { RangeCommit } from '@kdelta/store';

/** Weight of a commit none of whose files takes part in the build, and of a merge, which has no changes but resolutions. */
const uncompiled = 0.02;
const merge = 0.1;
/** Beyond this many commits their files are not read at every turn. */
const mostCommits = 5000;

/**
 * What a commit weighs before any boot: little when it touches nothing that this kernel is built from (the build's own
 * dependency files tell), never zero. Empty when that isn't known: the kernel is a package, or left the cache.
 */
export async function priorOf(
  gitDir: string,
  range: RangeCommit[],
  ends: { good: string; bad: string },
  artifact: KernelArtifact | null,
): Promise<Record<string, number>> {
  if (!artifact?.sources || range.length > mostCommits) return {};
  const listed = await readFile(artifact.sources, 'utf8').catch(() => null);
  const files = listed === null ? null : await filesOfRange(gitDir, ends.good, ends.bad).catch(() => null);
  if (listed === null || files === null) return {};
  const sources = new Set(listed.split('\n'));
  const prior: Record<string, number> = {};
  for (const { sha, parents } of range) {
    if (parents.length > 1) prior[sha] = merge;
    else if (!canAffect(sources, files.get(sha) ?? [])) prior[sha] = uncompiled;
  }
  return prior;
}
