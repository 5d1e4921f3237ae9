import { fisherExact } from './fisher.ts';
import { type SortedPair, sortRange } from './sorted.ts';

/** The boots of both kernels in two groups: how separated they are, and how the kernels share them. */
export interface Modes {
  /** The gap between the groups over the spread within them is large enough to call them modes. */
  separated: boolean;
  /** One kernel has boots in both groups. */
  mixed: boolean;
  /** Separated, and where both kernels have boots in one group, they lie together: modes can explain the difference. */
  explains: boolean;
  /** The smaller number of boots with which a kernel takes part in a group that is not its main one. */
  strays: number;
  /** There are enough boots and values to tell modes from a coarse resolution. */
  telling: boolean;
  /** Fisher's exact p that the groups have nothing to do with the kernels. */
  p: number;
}

/** A gap of this many standard deviations within the groups makes them modes; normal boots show it rarely. */
const SEPARATION = 8;

/** Ranges no further apart than this many standard deviations are one mode. */
const TOGETHER = 3;

/**
 * Splits all boots of one metric at their widest gap. The values in `sorted` are used up: logs may take their place.
 *
 * A t test is blind to modes: when every boot is in one of two tight groups, the few boots of a kernel may all fall
 * into the same one by chance, and their tiny spread makes that look certain. What such boots show is how often each
 * mode came up under each kernel, and that is Fisher's table.
 *
 * @returns null where there are too few boots to tell groups (fewer than 2 more than kernel-and-group cells)
 */
export function modesOf(sorted: SortedPair): Modes | null {
  const { room, n, total, at } = sorted;
  const m = total - n;
  const end = at + total;
  if (n < 2 || m < 2 || room[at] === room[end - 1]) return null;
  // On the log scale where there is one: a long tail to one side is no mode.
  const positive = room[at]! > 0;
  if (positive) {
    for (let i = 0; i < total; i++) room[i] = Math.log(room[i]!);
    for (let i = at; i < end; i++) room[i] = Math.log(room[i]!);
    // In order already, unless the last bits of two logs are the other way round.
    sortRange(room, at, end);
  }
  let gap = 0;
  let cut = 0;
  let distinct = 1;
  for (let i = at + 1; i < end; i++) {
    const step = room[i]! - room[i - 1]!;
    if (step > 1e-12 * (positive ? 1 : Math.abs(room[i]!))) distinct++;
    if (step > gap) {
      gap = step;
      cut = (room[i]! + room[i - 1]!) / 2;
    }
  }
  if (gap === 0) return null;
  const baseLow = countBelow(room, 0, n, cut);
  const headLow = countBelow(room, n, total, cut);
  const baseStrays = Math.min(baseLow, n - baseLow);
  const headStrays = Math.min(headLow, m - headLow);
  const occupied = +(baseLow > 0) + +(baseLow < n) + +(headLow > 0) + +(headLow < m);
  const df = total - occupied;
  const mixed = occupied > 2;
  const strays = Math.min(baseStrays || Number.POSITIVE_INFINITY, headStrays || Number.POSITIVE_INFINITY);
  if (distinct === 2) {
    const p = fisherExact(baseLow, n, headLow, m);
    return { separated: true, mixed, explains: mixed, strays, telling: false, p };
  }
  if (df < 2) return null;
  const within = Math.sqrt(addSquares(addSquares(0, room, 0, n, cut), room, n, total, cut) / df);
  const separated = gap > SEPARATION * within;
  if (!separated) return { separated, mixed, explains: false, strays, telling: df >= 4, p: 1 };
  const explains =
    mixed &&
    apart(rangeOf(room, 0, n, cut, true), rangeOf(room, n, total, cut, true)) <= TOGETHER * within &&
    apart(rangeOf(room, 0, n, cut, false), rangeOf(room, n, total, cut, false)) <= TOGETHER * within;
  return { separated, mixed, explains, strays, telling: df >= 4, p: fisherExact(baseLow, n, headLow, m) };
}

function countBelow(values: Float64Array, from: number, to: number, cut: number): number {
  let n = 0;
  for (let i = from; i < to; i++) if (values[i]! < cut) n++;
  return n;
}

/** `sum` and one kernel's squares around its mean in each group. */
function addSquares(sum: number, values: Float64Array, from: number, to: number, cut: number): number {
  let low = 0;
  let high = 0;
  let lows = 0;
  for (let i = from; i < to; i++) {
    const value = values[i]!;
    if (value < cut) {
      low += value;
      lows++;
    } else high += value;
  }
  low /= lows;
  high /= to - from - lows;
  let lowSquares = 0;
  let highSquares = 0;
  for (let i = from; i < to; i++) {
    const value = values[i]!;
    if (value < cut) lowSquares += (value - low) * (value - low);
    else highSquares += (value - high) * (value - high);
  }
  return sum + lowSquares + highSquares;
}

interface Range {
  min: number;
  max: number;
}

/** Where one kernel's boots of one group lie; min > max when it has none there. */
function rangeOf(values: Float64Array, from: number, to: number, cut: number, low: boolean): Range {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (let i = from; i < to; i++) {
    const value = values[i]!;
    if (value < cut !== low) continue;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return { min, max };
}

/** The gap between the ranges of two kernels' boots; 0 where they overlap or one has none. */
function apart(a: Range, b: Range): number {
  if (a.min > a.max || b.min > b.max) return 0;
  return Math.max(0, a.min - b.max, b.min - a.max);
}
