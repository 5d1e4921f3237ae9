/** Up to this many numbers insertion is faster than a call of sort; rows have a value per boot, so most are shorter. */
const INSERTION_MOST = 32;

let room = new Float64Array(64);

/** Room for `n` numbers, kept from call to call: a matrix has thousands of short rows. Its content is undefined. */
export function scratch(n: number): Float64Array {
  if (room.length < n) room = new Float64Array(2 * n);
  return room;
}

/** Appends the finite numbers of `values` to `into` from index `at`; returns the index after the last. */
export function takeFinite(values: readonly (number | null)[], into: Float64Array, at: number): number {
  let end = at;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    // Cheaper than Number.isFinite while the code is cold: NaN and the infinities less themselves are NaN.
    if (value !== null && value - value === 0) into[end++] = value;
  }
  return end;
}

/** Sorts the numbers from index `from` to before `to` in place, smallest first. */
export function sortRange(numbers: Float64Array, from: number, to: number): void {
  if (to - from > INSERTION_MOST) {
    numbers.subarray(from, to).sort();
    return;
  }
  for (let i = from + 1; i < to; i++) {
    const value = numbers[i]!;
    let k = i - 1;
    while (k >= from && numbers[k]! > value) {
      numbers[k + 1] = numbers[k]!;
      k--;
    }
    numbers[k + 1] = value;
  }
}

/** The finite values of two kernels' boots: as they came in `room` from 0, base's n first, and sorted from `at`. */
export interface SortedPair {
  room: Float64Array;
  /** Base's boots; total − n are head's. */
  n: number;
  total: number;
  at: number;
}

/** One metric's boots, sorted; valid until the next call of {@link scratch}. */
export function sortPair(base: readonly (number | null)[], head: readonly (number | null)[]): SortedPair {
  const at = base.length + head.length;
  const values = scratch(2 * at);
  const n = takeFinite(base, values, 0);
  const total = takeFinite(head, values, n);
  for (let i = 0; i < total; i++) values[at + i] = values[i]!;
  sortRange(values, at, at + total);
  return { room: values, n, total, at };
}

/** The smallest gap between different numbers of a sorted range, 0 when all are equal. */
export function smallestGap(numbers: Float64Array, from: number, to: number): number {
  if (to - from < 2 || numbers[from] === numbers[to - 1]) return 0;
  let gap = Number.POSITIVE_INFINITY;
  for (let i = from + 1; i < to; i++) {
    const step = numbers[i]! - numbers[i - 1]!;
    // Two decimals that differ only in the last bit are one value.
    if (step > 1e-12 * Math.abs(numbers[i]!) && step < gap) gap = step;
  }
  return Number.isFinite(gap) ? gap : 0;
}
