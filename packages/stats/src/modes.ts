import { fisherExact } from './fisher.ts';
import { scratch, sortRange, takeFinite } from './sorted.ts';

/** The boots of both kernels in two groups: how separated they are, and how the kernels share them. */
export interface Modes {
  /** The gap between the groups over the spread within them is large enough to call them modes. */
  separated: boolean;
  /** One kernel has boots in both groups. */
  mixed: boolean;
  /** Where both kernels have boots in one group, they lie together: the modes can explain the difference. */
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
 * Splits all boots of one metric at their widest gap.
 *
 * A t test is blind to modes: when every boot is in one of two tight groups, the few boots of a kernel may all fall
 * into the same one by chance, and their tiny spread makes that look certain. What such boots show is how often each
 * mode came up under each kernel, and that is Fisher's table.
 *
 * @returns null where there are too few boots to tell groups (fewer than 2 more than kernel-and-group cells)
 */
export function modesOf(base: readonly (number | null)[], head: readonly (number | null)[]): Modes | null {
  const most = base.length + head.length;
  const room = scratch(2 * most);
  // The boots' values, base then head, in their order; their sorted copy lies behind them.
  const n = takeFinite(base, room, 0);
  const total = takeFinite(head, room, n);
  const m = total - n;
  if (n < 2 || m < 2) return null;
  // On the log scale where there is one: a long tail to one side is no mode.
  let positive = true;
  for (let i = 0; i < total && positive; i++) positive = room[i]! > 0;
  for (let i = 0; i < total; i++) {
    if (positive) room[i] = Math.log(room[i]!);
    room[most + i] = room[i]!;
  }
  sortRange(room, most, most + total);
  let gap = 0;
  let cut = 0;
  let distinct = 1;
  for (let i = most + 1; i < most + total; i++) {
    const step = room[i]! - room[i - 1]!;
    if (step > 1e-12 * (positive ? 1 : Math.abs(room[i]!))) distinct++;
    if (step > gap) {
      gap = step;
      cut = (room[i]! + room[i - 1]!) / 2;
    }
  }
  if (gap === 0) return null;
  const baseLow = cellOf(room, 0, n, cut, true);
  const baseHigh = cellOf(room, 0, n, cut, false);
  const headLow = cellOf(room, n, total, cut, true);
  const headHigh = cellOf(room, n, total, cut, false);
  const occupied = +(baseLow.n > 0) + +(baseHigh.n > 0) + +(headLow.n > 0) + +(headHigh.n > 0);
  const df = total - occupied;
  const mixed = occupied > 2;
  const baseStrays = Math.min(baseLow.n, baseHigh.n) || Number.POSITIVE_INFINITY;
  const headStrays = Math.min(headLow.n, headHigh.n) || Number.POSITIVE_INFINITY;
  const strays = Math.min(baseStrays, headStrays);
  if (distinct === 2) {
    const p = fisherExact(baseLow.n, n, headLow.n, m);
    return { separated: true, mixed, explains: mixed, strays, telling: false, p };
  }
  if (df < 2) return null;
  const within = Math.sqrt((baseLow.squares + baseHigh.squares + headLow.squares + headHigh.squares) / df);
  const separated = gap > SEPARATION * within;
  const explains =
    mixed && apart(baseLow, headLow) <= TOGETHER * within && apart(baseHigh, headHigh) <= TOGETHER * within;
  const p = separated ? fisherExact(baseLow.n, n, headLow.n, m) : 1;
  return { separated, mixed, explains, strays, telling: df >= 4, p };
}

/** One kernel's boots in one group. */
interface Cell {
  n: number;
  squares: number;
  min: number;
  max: number;
}

function cellOf(values: Float64Array, from: number, to: number, cut: number, low: boolean): Cell {
  let n = 0;
  let sum = 0;
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (let i = from; i < to; i++) {
    const value = values[i]!;
    if (value < cut !== low) continue;
    n++;
    sum += value;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  let squares = 0;
  if (n > 1) {
    const mean = sum / n;
    for (let i = from; i < to; i++) {
      const value = values[i]!;
      if (value < cut === low) squares += (value - mean) * (value - mean);
    }
  }
  return { n, squares, min, max };
}

/** The gap between the ranges of two kernels' boots; 0 where they overlap or one has none. */
function apart(a: Cell, b: Cell): number {
  if (a.n === 0 || b.n === 0) return 0;
  return Math.max(0, a.min - b.max, b.min - a.max);
}
