import type { Series } from './data.ts';

export interface KernelPoint {
  kernel_id: number;
  sha: string | null;
  n: number;
  median: number;
  min: number;
  max: number;
  /** n − 1; null for a single boot. */
  stddev: number | null;
}

/** The boots of a series by kernel, in the order of their commits (packages: of their first boots). */
export function byKernel(series: Series): KernelPoint[] {
  const groups = new Map<number, { sha: string | null; order: number; values: number[] }>();
  series.kernels.forEach((kernel, i) => {
    let group = groups.get(kernel);
    if (!group) {
      group = { sha: series.shas[i]!, order: series.committed[i] ?? series.at[i]!, values: [] };
      groups.set(kernel, group);
    }
    group.values.push(series.values[i]!);
  });
  return [...groups]
    .toSorted(([, a], [, b]) => a.order - b.order)
    .map(([kernel_id, { sha, values }]) => {
      const sorted = values.toSorted((a, b) => a - b);
      const n = sorted.length;
      const mean = sorted.reduce((a, b) => a + b, 0) / n;
      const squares = sorted.reduce((sum, v) => sum + (v - mean) ** 2, 0);
      return {
        kernel_id,
        sha,
        n,
        median: n % 2 ? sorted[n >> 1]! : (sorted[n / 2 - 1]! + sorted[n / 2]!) / 2,
        min: sorted[0]!,
        max: sorted[n - 1]!,
        stddev: n > 1 ? Math.sqrt(squares / (n - 1)) : null,
      };
    });
}
