import type { Direction, Matrix, MetricInfo, MetricKind, MetricName, Registry } from '@kdelta/matrix';
import type { Family } from './families.ts';

export type Verdict = 'regression' | 'improvement' | 'changed' | 'same' | 'inconclusive';

/**
 * - `bimodal`: the boots of one kernel fall into separated groups that explain the difference;
 * - `unstable`: one kernel's boots scatter beyond what its history shows;
 * - `drift`: the order of boots explains the difference;
 * - `environment`: a metric that must not change did; on a KPI: one of the pair did;
 * - `no-history`: the noise is known from these boots only;
 * - `wild-boot`: one boot of a kernel is far off all others and was weighed down;
 * - `new`, `gone`: only head, only base has it, or it rises from 0; `few-boots`: fewer boots than can be judged.
 */
export type Flag =
  | 'bimodal'
  | 'unstable'
  | 'drift'
  | 'environment'
  | 'no-history'
  | 'wild-boot'
  | 'new'
  | 'gone'
  | 'few-boots';

/** One kernel's boots of one metric. `mean` and `stddev` (n − 1) are of all boots that have a value. */
export interface Side {
  n: number;
  mean: number | null;
  stddev: number | null;
  /** Boot by boot, in the matrix's order; null where a boot has none. */
  values: (number | null)[];
  /** Function metrics: boots in which it occurred, out of n. */
  fails?: number;
}

export interface Delta {
  metric: MetricName;
  kpi: boolean;
  kind: MetricKind;
  family: Family;
  better?: Direction;
  unit?: string;
  /** The metric is a percentage: `changeAbs` counts, floors and wants are points. */
  percent: boolean;
  base: Side;
  head: Side;
  /** head mean − base mean. Function metrics: difference of failure rates. */
  changeAbs: number | null;
  /** 100 · changeAbs / |base mean|; null when base is 0. Function metrics: points of reproduction rate. */
  changePct: number | null;
  ci95Pct: [number, number] | null;
  p: number | null;
  q: number | null;
  /** Least true change that these boots show with 80 % power at the level at which it would be reported. */
  detectablePct: number | null;
  verdict: Verdict;
  flags: Flag[];
  /** |change| over the least that would be reported: what rows are ranked by. */
  weight: number;
}

export interface JudgeInput {
  base: Matrix;
  head: Matrix;
  /**
   * Boots of other kernels at the same testcase, one matrix per kernel, oldest first. They tell each metric's
   * boot-to-boot spread; their means are not used. Give what is not in `base` or `head`.
   */
  history?: Matrix[];
  registry: Registry;
  /** Instructions are counted, not time: floor 0.2 %, want 0.5 %. */
  deterministic?: boolean;
  /** `same` needs the interval of a KPI's change within ± this many percent. Default 2, on deterministic hosts 0.5. */
  wantPct?: number;
  /** Which look at this pair this is, 1-based, and how many there may be; each look spends its share of the error. */
  look?: number;
  looksMax?: number;
  /**
   * When each boot ran (any unit, e.g. its number on the host), for the `drift` flag. Without it, boots are taken to
   * have run in the order of the columns, all of base before all of head.
   */
  order?: { base: number[]; head: number[] };
  /** Spread between rebuilds of equivalent source on this tbox group, percent (stddev): part of a KPI's floor. */
  rebuildSpreadPct?: number;
}

export interface Judgement {
  judgeVersion: string;
  verdict: Verdict;
  /** One line that a person can act on. */
  line: string;
  /** A KPI is inconclusive, more looks are allowed, and they could settle it. */
  wantMore: boolean;
  /** Ranked: KPIs first, then what changed, heaviest first; all metrics, also the unchanged. */
  deltas: Delta[];
  boots: { base: number; head: number; history: number };
}

/** Facts of one metric that the judge works with. */
export interface MetricRow {
  metric: MetricName;
  info: MetricInfo;
  base: (number | null)[];
  head: (number | null)[];
}
