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
  for (const value of values) {
    if (value === null || !Number.isFinite(value)) continue;
    n++;
    sum += value;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  if (n === 0) return { n, mean: 0, squares: 0, min, max };
  // A constant row's mean is that constant, not the rounded sum divided.
  const mean = min === max ? min : sum / n;
  let squares = 0;
  for (const value of values) {
    if (value === null || !Number.isFinite(value)) continue;
    squares += (value - mean) * (value - mean);
  }
  return { n, mean, squares, min, max };
}

/** The smallest gap between different values, 0 when all are equal: what the metric resolves. */
export function resolutionOf(...rows: readonly (number | null)[][]): number {
  const all: number[] = [];
  for (const row of rows) for (const value of row) if (value !== null && Number.isFinite(value)) all.push(value);
  all.sort((a, b) => a - b);
  let gap = Number.POSITIVE_INFINITY;
  for (let i = 1; i < all.length; i++) {
    const step = all[i]! - all[i - 1]!;
    // Two decimals that differ only in the last bit are one value.
    if (step > 1e-12 * Math.abs(all[i]!) && step < gap) gap = step;
  }
  return Number.isFinite(gap) ? gap : 0;
}
