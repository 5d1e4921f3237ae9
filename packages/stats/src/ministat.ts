import { plotSets } from './ministatPlot.ts';
import { momentsOf } from './moments.ts';
import { fixed, general } from './printf.ts';
import { tCritical, tTwoSided } from './student.ts';

export interface NumberSet {
  name: string;
  values: number[];
}

export interface SetSummary {
  name: string;
  n: number;
  min: number;
  max: number;
  median: number;
  avg: number;
  stddev: number;
}

export interface SetComparison {
  name: string;
  level: number;
  df: number;
  t: number | null;
  p: number | null;
  t_crit: number;
  pooled_s: number;
  difference: number;
  halfwidth: number;
  /** null where the reference's mean is 0. */
  pct: number | null;
  pct_halfwidth: number | null;
  significant: boolean;
}

export interface MinistatOptions {
  /** Percent of confidence; one of {@link LEVELS}. */
  level?: number;
  /** `2015`: upper median, ± % of the reference mean alone, and its "99.5" that is 99.8 in truth. */
  compat?: '2015' | '14';
  plot?: boolean;
  width?: number;
  separateBars?: boolean;
}

export const LEVELS = [80, 90, 95, 98, 99, 99.5] as const;
export const SYMBOLS = ' x+*%#@O';

/** What ministat refuses: the message for stderr; the exit status is 2. */
export class MinistatError extends Error {
  readonly code = 'KD_MINISTAT';
}

/**
 * FreeBSD's ministat: each set against the first one by Student's t with pooled variance.
 *
 * s² = ((n₁−1)s₁² + (n₂−1)s₂²)/(n₁+n₂−2), half width e = t·s·√(1/n₁ + 1/n₂); different when |d| > e. The half width in
 * percent carries the errors of both means (as FreeBSD 14): √((SS₂ + SS₁·x̄₂²/x̄₁²)·(n₁+n₂)/(n₁n₂(n₁+n₂−2)))·t/x̄₁.
 * Criticals are two-sided quantiles to three decimals, of the normal beyond 100 degrees of freedom.
 *
 * @throws MinistatError fewer than 3 points, more than 7 sets, or a level that is not one of LEVELS
 */
export function ministat(sets: NumberSet[], options: MinistatOptions = {}) {
  const level = options.level ?? 95;
  if (!LEVELS.some((known) => known === level)) {
    throw new MinistatError(`No support for confidence level ${level}; there are ${LEVELS.join(', ')}`);
  }
  if (sets.length === 0) throw new MinistatError('no data: name at least one file of numbers');
  if (sets.length > SYMBOLS.length - 1) throw new MinistatError(`at most ${SYMBOLS.length - 1} sets can be compared`);
  for (const set of sets) {
    if (set.values.length < 3) throw new MinistatError(`Dataset ${set.name} must contain at least 3 data points`);
  }
  const summaries = sets.map((set) => summariseSet(set, options.compat));
  const comparisons = sets.slice(1).map((set) => compareSets(sets[0]!, set, level, options.compat));
  return { sets: summaries, comparisons };
}

/** The same as FreeBSD's command prints it: legend, plot, table, and a verdict under each set after the first. */
export function renderMinistat(sets: NumberSet[], options: MinistatOptions = {}): string {
  const { sets: summaries, comparisons } = ministat(sets, options);
  const lines = sets.map((set, i) => `${SYMBOLS[i + 1]} ${set.name}`);
  if (options.plot !== false) {
    lines.push(
      ...plotSets(sets, summaries, {
        width: options.width ?? 74,
        separateBars: options.separateBars ?? false,
        lastHeight: options.compat === '2015',
      }),
    );
  }
  lines.push('    N           Min           Max        Median           Avg        Stddev');
  summaries.forEach((summary, i) => {
    const cells = [summary.min, summary.max, summary.median, summary.avg, summary.stddev];
    const numbers = cells.map((cell) => general(cell, 8).padStart(13)).join(' ');
    lines.push(`${SYMBOLS[i + 1]} ${String(summary.n).padStart(3)} ${numbers}`);
    if (i > 0) lines.push(...verdictLines(comparisons[i - 1]!, options.compat));
  });
  return `${lines.join('\n')}\n`;
}

function verdictLines(c: SetComparison, compat: MinistatOptions['compat']): string[] {
  const level = fixed(c.level, 1);
  if (!c.significant) return [`No difference proven at ${level}% confidence`];
  const undefinedPct = compat === '2015' ? '\tinf% +/- -nan%' : '\tn/a% +/- n/a%';
  return [
    `Difference at ${level}% confidence`,
    `\t${general(c.difference)} +/- ${general(c.halfwidth)}`,
    c.pct === null || c.pct_halfwidth === null ? undefinedPct : `\t${general(c.pct)}% +/- ${general(c.pct_halfwidth)}%`,
    `\t(Student's t, pooled s = ${general(c.pooled_s)})`,
  ];
}

function summariseSet(set: NumberSet, compat: MinistatOptions['compat']): SetSummary {
  const m = momentsOf(set.values);
  const sorted = [...set.values].sort((a, b) => a - b);
  const upper = sorted[Math.floor(m.n / 2)]!;
  const even = m.n % 2 === 0 && compat !== '2015';
  return {
    name: set.name,
    n: m.n,
    min: m.min,
    max: m.max,
    median: even ? (upper + sorted[m.n / 2 - 1]!) / 2 : upper,
    avg: m.mean,
    stddev: Math.sqrt(m.squares / (m.n - 1)),
  };
}

function compareSets(
  reference: NumberSet,
  set: NumberSet,
  level: number,
  compat: MinistatOptions['compat'],
): SetComparison {
  const a = momentsOf(reference.values);
  const b = momentsOf(set.values);
  const df = a.n + b.n - 2;
  const error = Math.sqrt(1 / a.n + 1 / b.n);
  const pooled = Math.sqrt((a.squares + b.squares) / df);
  const critical = criticalOf(level, df, compat);
  const difference = b.mean - a.mean;
  const halfwidth = critical * pooled * error;
  const relative =
    compat === '2015'
      ? halfwidth
      : critical * Math.sqrt(((b.squares + (a.squares * b.mean ** 2) / a.mean ** 2) * (a.n + b.n)) / (a.n * b.n * df));
  const t = pooled > 0 ? difference / (pooled * error) : null;
  return {
    name: set.name,
    level,
    df,
    t,
    p: t === null ? null : tTwoSided(t, df),
    t_crit: critical,
    pooled_s: pooled,
    difference,
    halfwidth,
    pct: a.mean === 0 ? null : (100 * difference) / a.mean,
    pct_halfwidth: a.mean === 0 ? null : Math.abs((100 * relative) / a.mean),
    significant: Math.abs(difference) > halfwidth,
  };
}

function criticalOf(level: number, df: number, compat: MinistatOptions['compat']): number {
  // The original's column named 99.5 holds two-sided 99.8 % quantiles.
  const outside = compat === '2015' && level === 99.5 ? 0.002 : 1 - level / 100;
  return Number(fixed(tCritical(outside, df > 100 ? Number.POSITIVE_INFINITY : df), 3));
}
