/** `program.name`, e.g. `dbench.throughput_MB/s`. */
export type MetricName = string;

/**
 * Metric → one number per boot, in boot order; `null` where a boot has none (never 0).
 * All rows have `boots.length` entries. `boots` names each column (a run path, a boot id).
 */
export interface Matrix {
  boots: string[];
  metrics: Map<MetricName, (number | null)[]>;
}

export type Direction = 'higher' | 'lower';
export type MetricKind = 'performance' | 'latency' | 'function' | 'count';

/** What is known of a metric, from a program's meta.yaml or from the registry's pattern rules. */
export interface MetricInfo {
  unit?: string;
  /** Which way is better; absent = unknown, so a change is `changed`, not `regression`. */
  better?: Direction;
  /** May start a bisect and a mail by itself. */
  kpi: boolean;
  kind: MetricKind;
  /** Least change worth reporting, in percent (absolute points for metrics that are percentages). */
  floorPct?: number;
  /** The metric is itself a percentage: compare by absolute difference. */
  percent?: boolean;
  /** Must not change between kernels on one host (memory size, CPU count, microcode): a change is flagged. */
  environment?: boolean;
  /** Counter sampled over time: per-boot value is last − first. Otherwise the mean. */
  counter?: boolean;
}
