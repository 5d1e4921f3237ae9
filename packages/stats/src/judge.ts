import { benjaminiHochberg, FAMILY_RATE, type Family } from './families.ts';
import { fisherExact, rateDifferenceInterval } from './fisher.ts';
import { flagsOf } from './flags.ts';
import { type Moments, momentsOf, resolutionOf } from './moments.ts';
import { type Noise, noiseOf } from './noise.ts';
import { fitVariancePrior, type VariancePrior } from './prior.ts';
import { byCanonicalName, joinRows } from './rows.ts';
import { tCritical, tTwoSided, tUpper } from './student.ts';
import { summarise } from './summary.ts';
import type { Delta, Flag, JudgeInput, Judgement, MetricRow, Side, Verdict } from './types.ts';

/** Changes whenever the same boots could get another judgement. */
export const JUDGE_VERSION = '2';

/** What is known of one metric before the families are closed. */
interface Candidate {
  row: MetricRow;
  family: Family;
  base: Moments;
  head: Moments;
  difference: number;
  /** |mean| of base, or of all boots where base is 0: what relative numbers refer to. */
  level: number;
  variance: number;
  df: number;
  history: Noise | null;
  resolution: number;
  /** Shrunken standard error of the difference and its degrees of freedom; 0 where there is no noise at all. */
  error: number;
  errorDf: number;
  p: number | null;
  fails?: { base: number; head: number; baseRuns: number; headRuns: number };
}

/**
 * Judges head against base, metric by metric and as a pair. Pure: the same input gives the same bytes.
 *
 * Per metric (Smyth 2004, eq. 3–5): with s² the pooled variance of the boots (d = n₁ + n₂ − 2) and s₀², d₀ the prior,
 *   s̃² = (d₀·s₀² + d·s²)/(d₀ + d),  t = (x̄₂ − x̄₁)/(s̃·√(1/n₁ + 1/n₂)),  df = d₀ + d.
 */
export function judge(input: JudgeInput): Judgement {
  const candidates = joinRows(input.base, input.head, input.registry).map((row) => candidateOf(row, input));
  addHistory(candidates, input);
  shrink(candidates);
  const share = lookShare(input.look ?? 1, input.looksMax ?? 1);
  const deltas = closeFamilies(candidates, input, share);
  return summarise(deltas, input, JUDGE_VERSION);
}

/** The part of the error that one look may spend: all looks together spend what one alone would (union bound). */
export function lookShare(look: number, looksMax: number): number {
  if (!(look >= 1 && looksMax >= look))
    throw new RangeError(`look ${look} of ${looksMax}: expected 1 ≤ look ≤ looksMax`);
  return 1 / looksMax;
}

function candidateOf(row: MetricRow, input: JudgeInput): Candidate {
  const base = momentsOf(row.base);
  const head = momentsOf(row.head);
  const family: Family = row.info.kind === 'function' ? 'function' : row.info.kpi ? 'kpi' : 'other';
  const total = base.n + head.n;
  let absolute = 0;
  for (const value of row.base) if (value !== null) absolute += Math.abs(value);
  for (const value of row.head) if (value !== null) absolute += Math.abs(value);
  const df = Math.max(0, base.n - 1) + Math.max(0, head.n - 1);
  const candidate: Candidate = {
    row,
    family,
    base,
    head,
    difference: base.n > 0 && head.n > 0 ? head.mean - base.mean : 0,
    level: total > 0 ? absolute / total : 0,
    variance: df > 0 ? (base.squares + head.squares) / df : 0,
    df,
    history: null,
    resolution: 0,
    error: 0,
    errorDf: 0,
    p: null,
  };
  if (family === 'function') {
    candidate.fails = {
      base: countFails(row.base),
      head: countFails(row.head),
      baseRuns: input.base.boots.length,
      headRuns: input.head.boots.length,
    };
  }
  return candidate;
}

function countFails(values: (number | null)[]): number {
  return values.reduce<number>((sum, value) => sum + (value !== null && value > 0 ? 1 : 0), 0);
}

function addHistory(candidates: Candidate[], input: JudgeInput): void {
  const history = (input.history ?? []).map((matrix) => byCanonicalName(matrix, input.registry));
  for (const candidate of candidates) {
    const { row } = candidate;
    const past = history
      .map((matrix) => matrix.get(input.registry.canonical(row.metric)))
      .filter((values) => values !== undefined);
    if (past.length > 0 && candidate.family !== 'function') {
      const noise = noiseOf(past);
      if (noise.df > 0) candidate.history = noise;
    }
    if (candidate.family !== 'function') candidate.resolution = resolutionOf(row.base, row.head, ...past);
  }
}

function shrink(candidates: Candidate[]): void {
  const tested = candidates.filter(
    (c) => c.family !== 'function' && c.base.n > 0 && c.head.n > 0 && c.resolution > 0 && c.df > 0,
  );
  for (const c of tested) c.variance = Math.max(c.variance, c.resolution ** 2 / 12);
  const withHistory = tested.filter((c) => c.history);
  const without = tested.filter((c) => !c.history);
  const prior = fitVariancePrior(
    withHistory.map((c) => c.variance / historyVariance(c)),
    withHistory.map((c) => c.df),
    1e3,
  );
  const crossPrior = fitVariancePrior(
    without.map((c) => c.variance / c.level ** 2),
    without.map((c) => c.df),
    1e3,
  );
  for (const c of candidates) {
    if (c.family === 'function' || c.base.n === 0 || c.head.n === 0 || c.resolution === 0) continue;
    const [s0, d0] = c.history ? historyPrior(c, prior) : [crossPrior.scale * c.level ** 2, crossPrior.df];
    const df = c.df + d0;
    if (df <= 0) continue;
    const variance = (c.df * c.variance + d0 * s0) / df;
    c.error = Math.sqrt(variance * (1 / c.base.n + 1 / c.head.n));
    c.errorDf = df;
    c.p = c.difference === 0 ? 1 : tTwoSided(c.difference / c.error, df);
  }
}

function historyVariance(c: Candidate): number {
  return Math.max(c.history!.relVariance * c.level ** 2, c.resolution ** 2 / 12);
}

function historyPrior(c: Candidate, prior: VariancePrior): [number, number] {
  const df = prior.df > 0 ? Math.min(prior.df, c.history!.df) : c.history!.df;
  return [historyVariance(c) * prior.scale, df];
}

function closeFamilies(candidates: Candidate[], input: JudgeInput, share: number): Delta[] {
  const deltas: Delta[] = [];
  for (const family of ['kpi', 'other', 'function'] as const) {
    const members = candidates.filter((c) => c.family === family);
    if (family === 'function') for (const c of members) c.p = functionP(c, input);
    const tested = members.filter((c) => c.p !== null);
    const rate = FAMILY_RATE[family] * share;
    const { q, rejected } = benjaminiHochberg(
      tested.map((c) => c.p!),
      rate,
    );
    const qOf = new Map(tested.map((c, i) => [c, q[i]!]));
    for (const c of members) {
      const metricQ = qOf.get(c) ?? null;
      const others = rejected - (metricQ !== null && metricQ <= rate ? 1 : 0);
      const level = tested.length > 0 ? (rate * Math.min(others + 1, tested.length)) / tested.length : rate;
      deltas.push(
        family === 'function' ? functionDelta(c, metricQ, rate, input) : metricDelta(c, metricQ, rate, level, input),
      );
    }
  }
  return deltas;
}

function functionP(c: Candidate, input: JudgeInput): number | null {
  const f = c.fails!;
  if (f.base + f.head === 0) return null;
  let baseFails = f.base;
  let baseRuns = f.baseRuns;
  for (const matrix of input.history ?? []) {
    const values = matrix.metrics.get(c.row.metric);
    baseFails += values ? countFails(values) : 0;
    baseRuns += matrix.boots.length;
  }
  return fisherExact(baseFails, baseRuns, f.head, f.headRuns);
}

function functionDelta(c: Candidate, q: number | null, rate: number, input: JudgeInput): Delta {
  const f = c.fails!;
  const baseRate = f.base / f.baseRuns;
  const headRate = f.head / f.headRuns;
  const interval = rateDifferenceInterval(f.base, f.baseRuns, f.head, f.headRuns);
  const significant = q !== null && q <= rate && headRate !== baseRate;
  const verdict: Verdict = significant
    ? directed(headRate - baseRate, c.row.info.better)
    : f.base + f.head === 0
      ? 'same'
      : 'inconclusive';
  return {
    ...identity(c),
    percent: true,
    base: { ...sideOf(c.row.base, c.base), n: f.baseRuns, mean: baseRate, fails: f.base },
    head: { ...sideOf(c.row.head, c.head), n: f.headRuns, mean: headRate, fails: f.head },
    changeAbs: headRate - baseRate,
    changePct: 100 * (headRate - baseRate),
    ci95Pct: [100 * interval[0], 100 * interval[1]],
    p: c.p,
    q,
    detectablePct: null,
    verdict,
    flags: input.history?.length ? [] : ['no-history'],
    weight: c.p === null ? 0 : -Math.log10(Math.max(c.p, 1e-300)) / 2,
  };
}

function metricDelta(c: Candidate, q: number | null, rate: number, level: number, input: JudgeInput): Delta {
  const delta: Delta = {
    ...identity(c),
    percent: c.row.info.percent ?? false,
    base: sideOf(c.row.base, c.base),
    head: sideOf(c.row.head, c.head),
    changeAbs: null,
    changePct: null,
    ci95Pct: null,
    p: c.p,
    q,
    detectablePct: null,
    verdict: 'inconclusive',
    flags: flagsOf(c.row, c, input),
    weight: 0,
  };
  if (c.base.n === 0 || c.head.n === 0) return delta;
  const floor = floorOf(c, input);
  const want = wantOf(c, input);
  const unit = delta.percent ? 1 : Math.abs(c.base.mean) / 100;
  delta.changeAbs = c.difference;
  const toPct = Math.abs(c.base.mean) > 0 ? 100 / Math.abs(c.base.mean) : null;
  if (toPct !== null) delta.changePct = c.difference * toPct;
  else if (c.difference === 0) delta.changePct = 0;
  if (c.p === null) {
    // All boots of both kernels are identical, or there is nothing to measure noise by.
    if (c.difference === 0 && c.base.squares + c.head.squares === 0 && c.base.n + c.head.n > 2) {
      delta.verdict = 'same';
      delta.ci95Pct = [0, 0];
    }
    return delta;
  }
  const half = tCritical(0.05, c.errorDf) * c.error;
  const critical = tCritical(level, c.errorDf) * c.error;
  const reportable = Math.max(critical, floor * unit);
  if (toPct !== null) {
    delta.ci95Pct = [(c.difference - half) * toPct, (c.difference + half) * toPct];
    delta.detectablePct = (reportable + tUpper(0.2, c.errorDf) * c.error) * toPct;
  }
  delta.weight = reportable > 0 ? Math.abs(c.difference) / reportable : 0;
  if (c.base.n + c.head.n < 3 && !c.history) delta.flags.push('few-boots');
  const vetoed = delta.flags.some((flag) => VETO.has(flag));
  const large = toPct === null || Math.abs(c.difference) >= floor * unit * (1 - 1e-12);
  if (vetoed) return delta;
  if (q !== null && q <= rate && large) {
    delta.verdict = directed(c.difference, c.row.info.better);
    return delta;
  }
  const bound = delta.percent ? want : toPct === null ? 0 : want / toPct;
  if (Math.abs(c.difference) + half <= bound) delta.verdict = 'same';
  return delta;
}

/** Flags under which a difference says nothing about the commit. */
const VETO: ReadonlySet<Flag> = new Set<Flag>(['bimodal', 'unstable', 'drift', 'environment', 'few-boots']);

function floorOf(c: Candidate, input: JudgeInput): number {
  const floor = c.row.info.floorPct ?? (input.deterministic ? 0.2 : c.row.info.kpi ? 1 : 5);
  const rebuild = c.row.info.kpi ? 2 * (input.rebuildSpreadPct ?? 0) : 0;
  return Math.max(floor, rebuild);
}

function wantOf(c: Candidate, input: JudgeInput): number {
  if (!c.row.info.kpi) return 10;
  return input.wantPct ?? (input.deterministic ? 0.5 : 2);
}

function directed(difference: number, better: 'higher' | 'lower' | undefined): Verdict {
  if (!better) return 'changed';
  return difference > 0 === (better === 'higher') ? 'improvement' : 'regression';
}

function identity(c: Candidate) {
  return {
    metric: c.row.metric,
    kpi: c.row.info.kpi,
    kind: c.row.info.kind,
    family: c.family,
    better: c.row.info.better,
    unit: c.row.info.unit,
  };
}

function sideOf(values: (number | null)[], m: Moments): Side {
  return {
    n: m.n,
    mean: m.n > 0 ? m.mean : null,
    stddev: m.n > 1 ? Math.sqrt(m.squares / (m.n - 1)) : null,
    values,
  };
}
