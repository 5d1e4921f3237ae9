import { fisherExact } from './fisher.ts';

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
  // On the log scale where there is one: a long tail to one side is no mode.
  const rows = [present(base), present(head)];
  const positive = rows.every((row) => row.every((value) => value > 0));
  const [x, y] = (positive ? rows.map((row) => row.map(Math.log)) : rows) as [number[], number[]];
  const all = [...x, ...y].sort((a, b) => a - b);
  if (x.length < 2 || y.length < 2) return null;
  let gap = 0;
  let cut = 0;
  let distinct = 1;
  for (let i = 1; i < all.length; i++) {
    const step = all[i]! - all[i - 1]!;
    if (step > 1e-12 * (positive ? 1 : Math.abs(all[i]!))) distinct++;
    if (step > gap) {
      gap = step;
      cut = (all[i]! + all[i - 1]!) / 2;
    }
  }
  if (gap === 0) return null;
  const cells = [
    x.filter((v) => v < cut),
    x.filter((v) => v >= cut),
    y.filter((v) => v < cut),
    y.filter((v) => v >= cut),
  ];
  const occupied = cells.filter((cell) => cell.length > 0).length;
  const df = all.length - occupied;
  const mixed = occupied > 2;
  const table = () => fisherExact(cells[0]!.length, x.length, cells[2]!.length, y.length);
  const strays = Math.min(
    ...[Math.min(cells[0]!.length, cells[1]!.length), Math.min(cells[2]!.length, cells[3]!.length)].filter(
      (n) => n > 0,
    ),
  );
  if (distinct === 2) return { separated: true, mixed, explains: mixed, strays, telling: false, p: table() };
  if (df < 2) return null;
  const within = Math.sqrt(cells.reduce((sum, cell) => sum + squaresOf(cell), 0) / df);
  const separated = gap > SEPARATION * within;
  const together = apart(cells[0]!, cells[2]!) <= TOGETHER * within && apart(cells[1]!, cells[3]!) <= TOGETHER * within;
  return { separated, mixed, explains: mixed && together, strays, telling: df >= 4, p: separated ? table() : 1 };
}

/** The gap between the ranges of two kernels' boots; 0 where they overlap or one has none. */
function apart(a: number[], b: number[]): number {
  if (a.length === 0 || b.length === 0) return 0;
  return Math.max(0, Math.min(...a) - Math.max(...b), Math.min(...b) - Math.max(...a));
}

function present(values: readonly (number | null)[]): number[] {
  return values.filter((value): value is number => value !== null && Number.isFinite(value));
}

function squaresOf(cell: number[]): number {
  if (cell.length < 2) return 0;
  const mean = cell.reduce((sum, value) => sum + value, 0) / cell.length;
  return cell.reduce((sum, value) => sum + (value - mean) ** 2, 0);
}
