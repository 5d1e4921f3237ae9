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
    if (value !== null && Number.isFinite(value)) into[end++] = value;
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
