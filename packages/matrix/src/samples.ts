import type { Registry } from './registry.ts';

/** Ending of the metric that keeps the standard deviation (n − 1) of a metric's samples within one boot. */
export const WITHIN_BOOT = '.within_boot_stddev';

/** A time of day or an uptime: it differs between any two boots and says nothing of the kernel. */
const CLOCK = /^[^.]+\.time$/;

export interface SampleWindow {
  /** Seconds after the first sample: LKP's `stats_part_begin` and `stats_part_end`. */
  beginSeconds?: number;
  endSeconds?: number;
}

/**
 * One number per metric for one boot, out of everything sampled within it.
 *
 * One sample is itself; of a counter (registry: `counter`) last − first; otherwise the mean. Where there are two or
 * more samples of a non-counter, their spread becomes a metric of its own, named with {@link WITHIN_BOOT}.
 * Samples that are not finite are left out; a metric without any is absent, never 0. A `<program>.time` series is
 * the clock of that program's series and no metric: with a window, only samples within it count (LKP's stats_part).
 */
export function samplesToBootValues(
  samples: Record<string, number[]> | Map<string, number[]>,
  registry: Registry,
  window: SampleWindow = {},
): Map<string, number> {
  const all = samples instanceof Map ? samples : new Map(Object.entries(samples));
  const values = new Map<string, number>();
  for (const [metric, series] of all) {
    if (CLOCK.test(metric)) continue;
    const kept = withinWindow(metric, series, all, window).filter((sample) => Number.isFinite(sample));
    if (kept.length === 0) continue;
    if (kept.length === 1) {
      values.set(metric, kept[0]!);
      continue;
    }
    if (registry.lookup(metric).counter) {
      values.set(metric, kept[kept.length - 1]! - kept[0]!);
      continue;
    }
    const average = kept.reduce((sum, sample) => sum + sample, 0) / kept.length;
    values.set(metric, average);
    const squares = kept.reduce((sum, sample) => sum + (sample - average) ** 2, 0);
    if (squares > 0) values.set(metric + WITHIN_BOOT, Math.sqrt(squares / (kept.length - 1)));
  }
  return values;
}

function withinWindow(metric: string, series: number[], all: Map<string, number[]>, window: SampleWindow): number[] {
  if (window.beginSeconds === undefined && window.endSeconds === undefined) return series;
  const clock = all.get(`${metric.slice(0, metric.indexOf('.'))}.time`);
  // A series of another length was sampled by another clock: the window says nothing about it.
  if (!clock || clock.length !== series.length || clock[0] === undefined) return series;
  const begin = clock[0] + (window.beginSeconds ?? Number.NEGATIVE_INFINITY);
  const end = clock[0] + (window.endSeconds ?? Number.POSITIVE_INFINITY);
  return series.filter((_, i) => clock[i]! >= begin && clock[i]! <= end);
}
