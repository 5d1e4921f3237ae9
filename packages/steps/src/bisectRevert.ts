import { type Next as BisectNext, showsOldLevel } from '@kdelta/bisect';
import { makeRevert } from '@kdelta/git';
import { type BisectRow, isRevert, type SearchState } from './bisectSearch.ts';
import { mirrorDir } from './build.ts';
import type { StepContext } from './context.ts';
import { recordRange } from './history.ts';

type Done = Extract<BisectNext, { kind: 'done' }>;

/** What booting bad with the culprit reverted has shown; part of the bisect's `result`. */
export interface RevertResult {
  /** The revert on top of bad. */
  sha: string;
  values: number[];
  /** Probability that these boots show the old level; null without boots (it doesn't build, or doesn't boot). */
  oldLevel: number | null;
}

/**
 * The commit that reverts `culprit` on top of bad; null where it conflicts, where the tree has no mirror here, and where the
 * culprit is bad itself: its parent, which was booted already, is that revert.
 */
export async function revertOnBad(
  ctx: StepContext,
  row: BisectRow,
  treeName: string,
  culprit: string,
): Promise<string | null> {
  if (culprit === row.badSha) return null;
  const mirror = mirrorDir(ctx, treeName);
  try {
    const made = await makeRevert(mirror, culprit, row.badSha);
    if (made !== null) await recordRange(ctx.db, mirror, null, made);
    return made;
  } catch (error) {
    ctx.log.info({ bisect: row.id, culprit, err: error }, 'no revert was made');
    return null;
  }
}

/**
 * Whether a finished search should still boot its culprit's revert: verified, and with nothing else in the range that would
 * keep bad from its old level.
 */
export function wantsRevert(state: SearchState, step: Done): boolean {
  return step.culprit !== null && step.verified && step.second === null && !state.probes.some(isRevert);
}

/** Boots of the revert: one where one tells, else three. */
export function revertBoots(state: SearchState, step: Done): number {
  return state.testcase.deterministic || Math.abs(step.step?.d ?? 0) >= 4 ? 1 : 3;
}

export function revertResult(state: SearchState, bootIds: (p: SearchState['probes'][number]) => number[]) {
  const probe = state.probes.findLast(isRevert);
  if (!probe) return null;
  const values = bootIds(probe).flatMap((b) => state.values.get(b) ?? []);
  const oldLevel = values.length === 0 ? null : Number(showsOldLevel(state.search, values).toPrecision(6));
  return { sha: probe.sha, values, oldLevel } satisfies RevertResult;
}

/** For people, after the reason why the search ended. */
export function revertLine(revert: RevertResult | null): string {
  if (revert === null) return '';
  if (revert.oldLevel === null) return '; bad with the culprit reverted gave no number';
  if (revert.oldLevel >= 0.95) return '; with the culprit reverted, bad shows the old level';
  if (revert.oldLevel <= 0.05) return '; bad keeps the new level with the culprit reverted';
  return '; what bad shows with the culprit reverted is unclear';
}
