import type { Matrix, MetricName, Registry } from '@kdelta/matrix';
import { momentsOf } from './moments.ts';
import { type Noise, noiseOf } from './noise.ts';

/** What a testcase's boots show of one metric, beside its boot-to-boot noise. */
export interface MetricNoise extends Noise {
  /** As the newest kernel that has it calls it. */
  metric: MetricName;
  kpi: boolean;
  /** Mean of the newest kernel's boots. */
  level: number;
  /** Variance (n − 1) of the kernels' means over the square of their mean; null with one kernel, or around 0. */
  betweenVariance: number | null;
  kernels: number;
  /** Boots that have a number. */
  boots: number;
}

/**
 * The noise model of a testcase: what {@link noiseOf} makes of each metric, in the order of their names. Failures
 * (`fail:runs`) have rates and no noise, and are left out.
 *
 * @param kernels one matrix per kernel, oldest first, as in a judgement's history
 */
export function noiseModel(kernels: readonly Matrix[], registry: Registry): MetricNoise[] {
  const past = new Map<MetricName, { metric: MetricName; rows: (number | null)[][] }>();
  for (const kernel of kernels) {
    for (const [metric, values] of kernel.metrics) {
      const name = registry.canonical(metric);
      const known = past.get(name);
      if (known) {
        known.metric = metric;
        known.rows.push(values);
      } else past.set(name, { metric, rows: [values] });
    }
  }
  const model: MetricNoise[] = [];
  for (const { metric, rows } of past.values()) {
    const { kpi, kind } = registry.lookup(metric);
    const levels = rows.map(momentsOf).filter(({ n }) => n > 0);
    if (kind === 'function' || levels.length === 0) continue;
    const between = momentsOf(levels.map(({ mean }) => mean));
    model.push({
      ...noiseOf(rows),
      metric,
      kpi,
      level: levels[levels.length - 1]!.mean,
      betweenVariance:
        levels.length > 1 && between.mean !== 0 ? between.squares / (levels.length - 1) / between.mean ** 2 : null,
      kernels: levels.length,
      boots: levels.reduce((sum, { n }) => sum + n, 0),
    });
  }
  return model.sort((a, b) => (a.metric < b.metric ? -1 : 1));
}
