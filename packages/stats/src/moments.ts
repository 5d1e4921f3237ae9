import { scratch, smallestGap, sortRange, takeFinite } from './sorted.ts';

/** Moments of one kernel's boots of one metric. */
export interface Moments {
  n: number;
  mean: number;
  /** Sum of squares around the mean. */
  squares: number;
  min: number;
  max: number;
}

/** Two-pass moments of the values that are there; mean is 0 when there are none. */
export function momentsOf(values: readonly (number | null)[]): Moments {
  let n = 0;
  let sum = 0;
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  // By index, and finite as NaN and infinities less themselves are not 0: several times faster while the code is cold.
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (value === null || value - value !== 0) continue;
    n++;
    sum += value;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  if (n === 0) return { n, mean: 0, squares: 0, min, max };
  // A constant row's mean is that constant, not the rounded sum divided.
  const mean = min === max ? min : sum / n;
  let squares = 0;
  if (min === max) return { n, mean, squares, min, max };
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (value === null || value - value !== 0) continue;
    squares += (value - mean) * (value - mean);
  }
  return { n, mean, squares, min, max };
}

/** The smallest gap between different values of all `rows`, 0 when all are equal: what the metric resolves. */
export function resolutionOf(rows: readonly (readonly (number | null)[])[]): number {
  let most = 0;
  for (const row of rows) most += row.length;
  const all = scratch(most);
  let n = 0;
  for (const row of rows) n = takeFinite(row, all, n);
  sortRange(all, 0, n);
  return smallestGap(all, 0, n);
}
