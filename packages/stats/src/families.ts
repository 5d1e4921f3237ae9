/** Three families share 5 %: Benjamini–Hochberg within each at its own rate. */
export const FAMILY_RATE = { kpi: 0.02, other: 0.02, function: 0.01 } as const;
export type Family = keyof typeof FAMILY_RATE;

export interface Adjusted {
  /** Benjamini–Hochberg q-values, in the order of `p`. */
  q: Float64Array;
  /** How many have q ≤ rate. */
  rejected: number;
}

/** Benjamini & Hochberg 1995: q(i) = min over j ≥ i of p(j)·m/j. */
export function benjaminiHochberg(p: ArrayLike<number>, rate: number): Adjusted {
  const m = p.length;
  const order = Array.from({ length: m }, (_, i) => i).sort((a, b) => p[a]! - p[b]! || a - b);
  const q = new Float64Array(m);
  let least = 1;
  let rejected = 0;
  for (let rank = m; rank >= 1; rank--) {
    const i = order[rank - 1]!;
    least = Math.min(least, (p[i]! * m) / rank);
    q[i] = least;
    if (least <= rate && rejected === 0) rejected = rank;
  }
  return { q, rejected };
}
