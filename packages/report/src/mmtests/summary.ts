import type { Direction } from '@kdelta/matrix';

export interface StatisticRow {
  name: string;
  value: number;
  /** Which way is better, where it isn't the operation's own (Stddev and CoeffVar: lower). */
  better?: Direction;
  /** Standard deviation to judge by, for means. */
  spread?: number;
}

/**
 * MMTests' statistics of one operation: Min, Amean (Hmean for rates), Stddev (n − 1), CoeffVar, Max, and the mean of the
 * best 95 % of the samples (`BAmean.95`). An Hmean over a zero sample is left out: it has no value.
 */
export function summarise(samples: number[], better: Direction): StatisticRow[] {
  if (samples.length === 0) return [];
  const n = samples.length;
  const mean = samples.reduce((a, b) => a + b, 0) / n;
  const stddev = n < 2 ? Number.NaN : Math.sqrt(samples.reduce((s, x) => s + (x - mean) ** 2, 0) / (n - 1));
  const rate = better === 'higher';
  const middle = rate ? harmonicMean(samples) : mean;
  const kept = Math.max(1, Math.trunc(0.95 * n));
  const best = [...samples].sort((a, b) => (rate ? b - a : a - b)).slice(0, kept);
  const bestMean = rate ? harmonicMean(best) : best.reduce((a, b) => a + b, 0) / kept;
  // Delta method: Var(H) = H⁴ · Var(1/x) with the spread of the reciprocals about 1/H.
  const spread =
    rate && middle !== null
      ? Math.sqrt((samples.reduce((s, x) => s + (1 / x - 1 / middle) ** 2, 0) * middle ** 4) / n)
      : stddev;
  const rows: (StatisticRow | null)[] = [
    { name: 'Min', value: Math.min(...samples) },
    middle === null ? null : { name: rate ? 'Hmean' : 'Amean', value: middle, spread },
    n < 2 ? null : { name: 'Stddev', value: rate ? spread : stddev, better: 'lower' },
    n < 2 || mean === 0
      ? null
      : { name: 'CoeffVar', value: (100 * (rate ? spread : stddev)) / (middle ?? mean), better: 'lower' },
    { name: 'Max', value: Math.max(...samples) },
    bestMean === null ? null : { name: rate ? 'BHmean.95' : 'BAmean.95', value: bestMean },
  ];
  return rows.filter((row) => row !== null);
}

function harmonicMean(samples: number[]): number | null {
  if (samples.some((x) => x <= 0)) return null;
  return samples.length / samples.reduce((sum, x) => sum + 1 / x, 0);
}
