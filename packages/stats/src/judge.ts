import { benjaminiHochberg, FAMILY_RATE, type Family } from './families.ts';
import { fisherExact, rateDifferenceInterval } from './fisher.ts';
import { flagsOf } from './flags.ts';
import { type Modes, modesOf } from './modes.ts';
import { type Moments, momentsOf, resolutionOf } from './moments.ts';
import { type Noise, noiseOf } from './noise.ts';
import { fitVariancePrior, type VariancePrior } from './prior.ts';
import { byCanonicalName, joinRows } from './rows.ts';
import { smallestGap, sortPair } from './sorted.ts';
import { tCritical, trigamma, trigammaInverse, tTwoSided, tUpper } from './student.ts';
import { summarise } from './summary.ts';
import type { Delta, Flag, JudgeInput, Judgement, MetricRow, Side, Verdict } from './types.ts';

/** Changes whenever the same boots could get another judgement. */
export const JUDGE_VERSION = '5';

/** What is known of one metric before the families are closed. All variances, errors and effects are relative. */
interface Candidate {
  row: MetricRow;
  family: Family;
  base: Moments;
  head: Moments;
  /** head mean − base mean, in the metric's unit. */
  difference: number;
  /** The effect is the log of the ratio of the means; otherwise their difference over `level`. */
  ratio: boolean;
  effect: number;
  /** What relative numbers refer to: the smaller |mean| that is not 0. */
  level: number;
  /** Pooled variance within the kernels, each around its own mean and relative to it. */
  variance: number;
  df: number;
  history: Noise | null;
  /** The smallest gap between different values, in the metric's unit; 0 when all boots are equal. */
  resolution: number;
  modes: Modes | null;
  /** However far apart the kernels lie, p is no smaller (see flipShare). */
  leastP: number;
  /** Shrunken standard error of the effect and its degrees of freedom; NaN where p is null. */
  error: number;
  errorDf: number;
  p: number | null;
  fails: { base: number; head: number; baseRuns: number; headRuns: number } | null;
}

/**
 * Judges head against base, metric by metric and as a pair. Pure: the same input gives the same bytes.
 *
 * The effect of a metric is the log of the ratio of its two means, θ = log(x̄₂/x̄₁): what is decided on are the means
 * that are printed, a change of scale changes nothing, and swapping the kernels mirrors it. Its variance by the delta
 * method is c²·(1/n₁ + 1/n₂), c² the pooled squared coefficient of variation with d = n₁ + n₂ − 2 degrees of freedom.
 * (Metrics with values of both signs, a mean of 0, and percentages: the plain difference instead.)
 * c² is moderated (Smyth 2004, eq. 3–5) by a prior c₀² worth d₀ degrees of freedom:
 *   c̃² = (d₀·c₀² + d·c²)/(d₀ + d),  t = θ/(c̃·√(1/n₁ + 1/n₂)) with d₀ + d degrees of freedom.
 */
export function judge(input: JudgeInput): Judgement {
  const history = (input.history ?? []).map((matrix) => byCanonicalName(matrix, input.registry));
  const candidates = joinRows(input.base, input.head, input.registry).map((row) =>
    candidateOf(row, pastOf(row, history, input), input),
  );
  shrink(candidates, input.deterministic ?? false);
  const share = lookShare(input.look ?? 1, input.looksMax ?? 1);
  const deltas = closeFamilies(candidates, input, share);
  spreadEnvironment(deltas);
  return summarise(deltas, input, JUDGE_VERSION);
}

/** The part of the error that one look may spend: all looks together spend what one alone would (union bound). */
export function lookShare(look: number, looksMax: number): number {
  if (!(look >= 1 && looksMax >= look))
    throw new RangeError(`look ${look} of ${looksMax}: expected 1 ≤ look ≤ looksMax`);
  return 1 / looksMax;
}

/** Where the machine itself changed, no KPI can speak of the commit. */
function spreadEnvironment(deltas: Delta[]): void {
  if (!deltas.some((delta) => delta.flags.includes('environment'))) return;
  for (const delta of deltas) {
    if (!delta.kpi || delta.flags.includes('environment')) continue;
    delta.flags.push('environment');
    delta.verdict = 'inconclusive';
  }
}

/** Everything is set at once: a field that got its kind of number later would cost a copy of each candidate. */
function candidateOf(row: MetricRow, past: Past, input: JudgeInput): Candidate {
  const base = momentsOf(row.base);
  const head = momentsOf(row.head);
  const family: Family = row.info.kind === 'function' ? 'function' : row.info.kpi ? 'kpi' : 'other';
  const both = base.n > 0 && head.n > 0;
  const oneSign = (base.min >= 0 && head.min >= 0) || (base.max <= 0 && head.max <= 0);
  const ratio = both && oneSign && base.mean !== 0 && head.mean !== 0 && !row.info.percent;
  const level = levelOf(base, head);
  const df = Math.max(0, base.n - 1) + Math.max(0, head.n - 1);
  const difference = both ? head.mean - base.mean : 0;
  const squares = ratio
    ? base.squares / base.mean ** 2 + head.squares / head.mean ** 2
    : level > 0
      ? (base.squares + head.squares) / level ** 2
      : 0;
  const failed = family === 'function';
  // Before the boots are sorted: both use the same room.
  const pooled = failed || past.length === 0 ? 0 : resolutionOf([row.base, row.head, ...past]);
  const sorted = failed ? null : sortPair(row.base, row.head);
  const resolution =
    sorted && past.length === 0 ? smallestGap(sorted.room, sorted.at, sorted.at + sorted.total) : pooled;
  const noise = failed || past.length === 0 ? null : noiseOf(past);
  const history = noise && noise.df > 0 ? noise : null;
  return {
    row,
    family,
    base,
    head,
    difference,
    ratio,
    effect: ratio ? Math.log(head.mean / base.mean) : level > 0 ? difference / level : 0,
    level,
    variance: df > 0 ? squares / df : 0,
    df,
    history,
    resolution,
    modes: sorted && modesOf(sorted),
    leastP: 0,
    error: Number.NaN,
    errorDf: Number.NaN,
    p: null,
    fails: failed
      ? {
          base: countFails(row.base),
          head: countFails(row.head),
          baseRuns: input.base.boots.length,
          headRuns: input.head.boots.length,
        }
      : null,
  };
}

/** The smaller |mean| that is not 0; without one the largest |value| there is. */
function levelOf(base: Moments, head: Moments): number {
  const a = Math.abs(base.mean);
  const b = Math.abs(head.mean);
  if (a > 0 && b > 0) return Math.min(a, b);
  if (a > 0) return a;
  if (b > 0) return b;
  return Math.max(Math.abs(base.max), Math.abs(head.max), 0);
}

function countFails(values: (number | null)[]): number {
  return values.reduce<number>((sum, value) => sum + (value !== null && value > 0 ? 1 : 0), 0);
}

/** What earlier kernels' boots showed of one metric, oldest first. */
type Past = (number | null)[][];

const NO_PAST: Past = [];

function pastOf(row: MetricRow, history: Map<string, (number | null)[]>[], input: JudgeInput): Past {
  if (history.length === 0) return NO_PAST;
  const name = input.registry.canonical(row.metric);
  return history.map((values) => values.get(name)).filter((values) => values !== undefined);
}

function shrink(candidates: Candidate[], deterministic: boolean): void {
  const noisy = candidates.filter(
    (c) => c.family !== 'function' && c.base.n > 0 && c.head.n > 0 && c.resolution > 0 && c.level > 0,
  );
  const measured = noisy.filter((c) => c.df > 0);
  for (const c of measured) c.variance = Math.max(c.variance, resolutionVariance(c));
  const withHistory = measured.filter((c) => c.history);
  const without = measured.filter((c) => !c.history);
  const historyFit = fitVariancePrior(
    withHistory.map((c) => c.variance / historyVariance(c)),
    withHistory.map((c) => c.df),
    1e3,
  );
  const crossFit = fitVariancePrior(
    without.map((c) => c.variance),
    without.map((c) => c.df),
    1e3,
  );
  const flips = flipShare(measured);
  for (const c of noisy) {
    const prior = c.history ? historyPrior(c, historyFit) : deterministic && isCounted(c) ? COUNTED : crossFit;
    if (c.df + prior.df <= 0) continue;
    if (prior.df === 0 && c.base.n > 1 && c.head.n > 1) welch(c);
    else {
      c.errorDf = c.df + prior.df;
      const variance = (c.df * c.variance + prior.df * prior.scale) / c.errorDf;
      c.error = Math.sqrt(variance * (1 / c.base.n + 1 / c.head.n));
    }
    c.p = c.effect === 0 ? 1 : tTwoSided(c.effect / c.error, c.errorDf);
    if (flips > 0 && !c.history) c.leastP = flips * fisherExact(c.base.n, c.base.n, 0, c.head.n);
    if (!c.modes?.separated) continue;
    if (c.modes.explains) c.p = Math.max(c.p, c.modes.p);
    else if (!c.modes.mixed && !c.history) c.p = Math.max(c.p, flips * c.modes.p);
  }
}

/**
 * Error and degrees of freedom of a metric that nothing else tells of, neither history nor three more metrics: no common
 * spread of the two kernels is taken for granted (Welch 1947; the degrees of freedom are Satterthwaite's).
 */
function welch(c: Candidate): void {
  const least = resolutionVariance(c);
  const [base, head] = [c.base, c.head].map((side) => {
    const level = c.ratio ? side.mean : c.level;
    return { n: side.n, ofMean: Math.max(side.squares / (side.n - 1) / level ** 2, least) / side.n };
  }) as [{ n: number; ofMean: number }, { n: number; ofMean: number }];
  const both = base.ofMean + head.ofMean;
  c.error = Math.sqrt(both);
  c.errorDf = both ** 2 / (base.ofMean ** 2 / (base.n - 1) + head.ofMean ** 2 / (head.n - 1));
}

/**
 * The noise of a KPI on hosts that count instructions, where it has no history: between 0.01 % and 0.1 % of the level (page
 * faults, dbench), the larger taken and held worth four degrees of freedom. A KPI that scatters more than this prior
 * allows (F(4, 4), 5 %: 6.39) is not counted work; it gets the prior of the pair's other metrics.
 */
const COUNTED: VariancePrior = { scale: 0.001 ** 2, df: 4 };
const COUNTED_LIMIT = 6.39;

function isCounted(c: Candidate): boolean {
  return c.row.info.kpi && c.df > 0 && c.variance <= COUNTED_LIMIT * COUNTED.scale;
}

/**
 * The share of the metrics whose boots fall into modes within one kernel; 0 where it is no more than chance makes it.
 * A metric without history whose kernels lie in one mode each may be one of these: its p is at least this share of
 * the chance that its boots fell so (Fisher's p).
 */
function flipShare(measured: Candidate[]): number {
  const steadiness = fitSteadiness(measured);
  if (steadiness < STEADY) return 1;
  const judged = measured.filter((c) => c.modes?.telling);
  const mixed = judged.filter((c) => c.modes!.separated && c.modes!.mixed).length;
  const share = judged.length > 0 ? mixed / judged.length : 0;
  return share > CHANCE_MODES ? share : 0;
}

/** Below this many degrees of freedom (see fitSteadiness) variances do not scatter, they flip. */
const STEADY = 0.8;
/** Up to this share of metrics show modes by chance and coarse resolution. */
const CHANCE_MODES = 0.25;

/**
 * How steady the variance of one metric is from kernel to kernel, as degrees of freedom ν: between two kernels
 * s₁²/s₂² ~ F(n₁ − 1, n₂ − 1) when it is one variance; where it scatters more over the metrics, each kernel's own
 * variance is taken as σ²·ν/χ²(ν), so that var log(s₁²/s₂²) = ψ′(½(n₁ − 1)) + ψ′(½(n₂ − 1)) + 2ψ′(ν/2).
 */
function fitSteadiness(measured: Candidate[]): number {
  let n = 0;
  let sum = 0;
  let squares = 0;
  let expected = 0;
  let baseN = 0;
  let headN = 0;
  let sampling = 0;
  for (const c of measured) {
    if (c.base.squares === 0 || c.head.squares === 0) continue;
    const log = Math.log(c.base.squares / (c.base.n - 1) / (c.head.squares / (c.head.n - 1)));
    n++;
    sum += log;
    squares += log * log;
    if (c.base.n !== baseN || c.head.n !== headN) {
      baseN = c.base.n;
      headN = c.head.n;
      sampling = trigamma((baseN - 1) / 2) + trigamma((headN - 1) / 2);
    }
    expected += sampling;
  }
  if (n < 10) return Number.POSITIVE_INFINITY;
  const excess = (squares - (sum * sum) / n) / (n - 1) - expected / n;
  return excess > 0 ? 2 * trigammaInverse(excess / 2) : Number.POSITIVE_INFINITY;
}

/**
 * Whether a smallest detectable change can be promised at all. Not where a kernel's mean, or one boot of others that aren't, is
 * 0 (a change that scales the metric leaves it there); where boots of one kernel lie in both of two modes (how they fall decides,
 * not the change); nor where so many metrics show modes that kernels in one mode each tell nothing at this level.
 */
function isPromising(c: Candidate, level: number): boolean {
  if (c.base.mean === 0 || c.head.mean === 0 || hasZero(c.base) || hasZero(c.head)) return false;
  return !(c.modes?.separated && c.modes.mixed) && c.leastP <= level;
}

const hasZero = ({ min, max }: Moments): boolean => (min === 0 || max === 0) && min !== max;

/** Larger changes than eleven times are not promised: power is reckoned for small ones. */
const MOST_DETECTABLE_PCT = 1000;

/** Relative variance of rounding to the metric's resolution: no noise is known to be smaller. */
function resolutionVariance(c: Candidate): number {
  const product = Math.abs(c.base.mean * c.head.mean);
  return c.resolution ** 2 / (12 * (product > 0 ? product : c.level ** 2));
}

function historyVariance(c: Candidate): number {
  return Math.max(c.history!.relVariance, resolutionVariance(c));
}

function historyPrior(c: Candidate, fit: VariancePrior): VariancePrior {
  const df = fit.df > 0 ? Math.min(fit.df, c.history!.df) : c.history!.df;
  return { scale: historyVariance(c) * fit.scale, df };
}

function closeFamilies(candidates: Candidate[], input: JudgeInput, share: number): Delta[] {
  const deltas: Delta[] = [];
  const order = orderOf(input);
  for (const family of ['kpi', 'other', 'function'] as const) {
    const members = candidates.filter((c) => c.family === family);
    if (family === 'function') for (const c of members) c.p = functionP(c, input);
    const p: number[] = [];
    for (const c of members) if (c.p !== null) p.push(c.p);
    const rate = FAMILY_RATE[family] * share;
    const { q, rejected } = benjaminiHochberg(p, rate);
    let tested = 0;
    for (const c of members) {
      const metricQ = c.p === null ? null : q[tested++]!;
      const others = rejected - (metricQ !== null && metricQ <= rate ? 1 : 0);
      const level = p.length > 0 ? (rate * Math.min(others + 1, p.length)) / p.length : rate;
      deltas.push(
        family === 'function'
          ? functionDelta(c, metricQ, rate, input)
          : metricDelta(c, metricQ, rate, level, order, input),
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

function metricDelta(
  c: Candidate,
  q: number | null,
  rate: number,
  level: number,
  order: { base: number[]; head: number[] },
  input: JudgeInput,
): Delta {
  const { info } = c.row;
  const flags = flagsOf(c.row, c, rate, order);
  const both = c.base.n > 0 && c.head.n > 0;
  let changePct: number | null = null;
  if (both && c.base.mean !== 0) changePct = (100 * c.difference) / Math.abs(c.base.mean);
  else if (both && c.difference === 0) changePct = 0;
  let ci95Pct: [number, number] | null = null;
  let detectablePct: number | null = null;
  let weight = 0;
  let verdict: Verdict = 'inconclusive';
  if (both && c.p === null) {
    // All boots of both kernels are identical but for the last digit of a double, or there is nothing to measure noise by.
    if (c.resolution === 0 && c.base.n + c.head.n > 2) {
      verdict = 'same';
      ci95Pct = [0, 0];
    }
  } else if (both) {
    const half = tCritical(0.05, c.errorDf) * c.error;
    const floor = effectOf(floorOf(c, input), c);
    const reportable = Math.max(tCritical(level, c.errorDf) * c.error, floor);
    if (c.base.mean !== 0) ci95Pct = [pctOf(c.effect - half, c), pctOf(c.effect + half, c)];
    if (isPromising(c, level)) {
      detectablePct = pctOf(reportable + tUpper(0.2, c.errorDf) * c.error, c);
      if (detectablePct > MOST_DETECTABLE_PCT) detectablePct = null;
    }
    const size = Math.abs(c.effect);
    weight = size / reportable;
    if (!flags.some(isVeto)) {
      if (q !== null && q <= rate && size >= floor * (1 - 1e-12)) verdict = directed(c.difference, info.better);
      else if (size + half <= effectOf(wantOf(c, input), c)) verdict = 'same';
    }
  }
  // One literal with all keys in place: a spread, or keys set later, took most of the time of a comparison.
  return {
    metric: c.row.metric,
    kpi: info.kpi,
    kind: info.kind,
    family: c.family,
    better: info.better,
    unit: info.unit,
    percent: info.percent ?? false,
    base: sideOf(c.row.base, c.base),
    head: sideOf(c.row.head, c.head),
    changeAbs: both ? c.difference : null,
    changePct,
    ci95Pct,
    p: c.p,
    q,
    detectablePct,
    verdict,
    flags,
    weight,
  };
}

/** A change in percent (points, for a metric that is a percentage) as an effect. */
function effectOf(change: number, c: Candidate): number {
  if (c.ratio) return Math.log1p(change / 100);
  return c.row.info.percent ? change / c.level : change / 100;
}

/** An effect as percent of the base mean. */
function pctOf(effect: number, c: Candidate): number {
  if (c.ratio) return 100 * Math.expm1(effect);
  return (100 * effect * c.level) / Math.abs(c.base.mean);
}

/**
 * Without a word about time, all of base ran before all of head, in the order of the columns. A boot without any value
 * takes no time: a column of nothing must not move the others.
 */
function orderOf(input: JudgeInput): { base: number[]; head: number[] } {
  if (input.order) return input.order;
  let ran = 0;
  const of = (matrix: JudgeInput['base']) => matrix.boots.map((_, boot) => (hasValue(matrix, boot) ? ran++ : ran));
  return { base: of(input.base), head: of(input.head) };
}

function hasValue(matrix: JudgeInput['base'], boot: number): boolean {
  for (const values of matrix.metrics.values()) if (values[boot] !== null && values[boot] !== undefined) return true;
  return false;
}

/** Flags under which a difference says nothing about the commit. */
const VETO: ReadonlySet<Flag> = new Set<Flag>(['bimodal', 'unstable', 'drift', 'environment']);

function isVeto(flag: Flag): boolean {
  return VETO.has(flag);
}

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
