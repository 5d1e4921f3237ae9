import type { Direction, MmtestsRun, Operation } from '@kdelta/matrix';
import { fixed, tTwoSided } from '@kdelta/stats';
import { summarise } from './summary.ts';

/** Row of a comparison: one number per run; null where a run has none. */
export interface MmtestsRow {
  label: string;
  op: string;
  values: (number | null)[];
  better: Direction;
  /** Runs (by index) that differ significantly from the first. */
  significant: boolean[];
}

/** Widths of MMTests 0.05 (`%12.4f (%6.2f%%)`) and of its present layout (18 and 7). */
const LAYOUTS = { '0.05': { number: 12, percent: 6 }, head: { number: 18, percent: 7 } } as const;
export type MmtestsLayout = keyof typeof LAYOUTS;

/**
 * The gain of `value` over `base` in percent: positive is better, whichever way the metric points. A throughput that
 * falls to zero is −100 (MMTests prints 0.00); null where base is 0 and value is not: there is no percentage.
 */
export function gain(base: number, value: number, better: Direction): number | null {
  if (base === value) return 0;
  if (base === 0) return null;
  return better === 'lower' ? 100 - (value * 100) / base : (value * 100) / base - 100;
}

/**
 * Prints runs side by side as compare-mmtests does, the first being the base. 0.05 is byte for byte the layout of that
 * release. Unless `exact` is set, two flaws are repaired: a number wider than its column is kept apart from its neighbour by
 * a blank, and what today's layout marks as significant is so by Welch's t test (5 %), to which the number of samples matters.
 */
export function renderMmtests(
  runs: MmtestsRun[],
  options: { layout?: MmtestsLayout; exact?: boolean; ratio?: boolean } = {},
): string {
  const layout = options.layout ?? '0.05';
  const rows = layout === '0.05' ? meanRows(runs) : statisticRows(runs, options.exact ?? false);
  return renderRows(
    runs.map((run) => run.name),
    options.ratio ? rows.map(asRatio) : rows,
    { layout, exact: options.exact ?? false, ratio: options.ratio ?? false },
  );
}

export function renderRows(
  names: string[],
  rows: MmtestsRow[],
  { layout, exact, ratio }: { layout: MmtestsLayout; exact: boolean; ratio: boolean },
): string {
  const { number, percent } = LAYOUTS[layout];
  const labelWidth = layout === '0.05' ? 10 : 9;
  const opWidth = Math.max(1, ...rows.map((row) => row.op.length));
  const cellWidth = number + percent + 4;
  const left = labelWidth + 1 + opWidth;
  const split = names.map((name) => {
    const dash = name.indexOf('-');
    return dash < 0 ? [name, ''] : [name.slice(0, dash), name.slice(dash + 1)];
  });
  const heading = (i: 0 | 1) => ' '.repeat(left) + split.map((parts) => parts[i]!.padStart(cellWidth)).join('');
  const lines = [heading(0), heading(1)];
  for (const row of rows) {
    let line = `${row.label.padEnd(labelWidth)} ${row.op.padEnd(opWidth)}`;
    row.values.forEach((value, i) => {
      let cell = value === null ? 'n/a'.padStart(number) : fixed(value, 4).padStart(number);
      if (cell.length > number && cell.length < number + 2) cell = exact ? cell : ` ${cell}`;
      else if (!exact && !/^\s/.test(cell)) cell = ` ${cell}`;
      line += cell;
      if (ratio) return;
      const base = row.values[0] ?? null;
      const change = value === null || base === null ? null : gain(base, value, row.better);
      const text = (change === null ? 'n/a' : fixed(change === 0 ? 0 : change, 2)).padStart(percent);
      line += row.significant[i] ? ` *${text}%*` : ` (${text}%)`;
    });
    lines.push(line);
  }
  return `${lines.join('\n')}\n`;
}

function meanRows(runs: MmtestsRun[]): MmtestsRow[] {
  return operationsOf(runs).map(({ metric, op, better }) => ({
    label: metric,
    op,
    better,
    values: runs.map((run) => {
      const samples = samplesOf(run, metric, op);
      return samples.length === 0 ? null : samples.reduce((a, b) => a + b, 0) / samples.length;
    }),
    significant: runs.map(() => false),
  }));
}

/** Min, mean, Stddev, CoeffVar, Max and BAmean.95 (or their harmonic kin) of every operation, statistic by statistic. */
function statisticRows(runs: MmtestsRun[], exact: boolean): MmtestsRow[] {
  const operations = operationsOf(runs);
  const first = operations[0];
  if (!first) return [];
  const summaries = operations.map((operation) => ({
    operation,
    runs: runs.map((run) => summarise(samplesOf(run, operation.metric, operation.op), operation.better)),
  }));
  const names = [...new Set(summaries.flatMap((s) => s.runs.flatMap((r) => r.map((row) => row.name))))];
  return names.flatMap((name) =>
    summaries
      .filter((s) => s.runs.some((r) => r.some((row) => row.name === name)))
      .map(({ operation, runs: perRun }) => {
        const cells = perRun.map((r) => r.find((row) => row.name === name));
        const base = cells[0];
        const samples = runs.map((run) => samplesOf(run, operation.metric, operation.op));
        const differs = (i: number) =>
          exact ? overlapScore(base, cells[i]) > 1 : isMean(name) && welchP(name, samples[0]!, samples[i]!) < 0.05;
        return {
          label: name,
          op: operation.op === '' ? operation.metric : `${operation.metric}-${operation.op}`,
          better: cells.find(Boolean)!.better ?? operation.better,
          values: cells.map((cell) => cell?.value ?? null),
          significant: cells.map((_, i) => i > 0 && differs(i)),
        };
      }),
  );
}

const isMean = (name: string): boolean => name === 'Amean' || name === 'Hmean';

/** p of Welch's t test (Welch 1947), of the reciprocals for a harmonic mean; 1 where a side has fewer than two samples. */
function welchP(name: string, a: number[], b: number[]): number {
  const [x, y] = [a, b].map((samples) => moments(name === 'Hmean' ? samples.map((value) => 1 / value) : samples)) as [
    Moments,
    Moments,
  ];
  if (x.n < 2 || y.n < 2) return 1;
  const [u, v] = [x.variance / x.n, y.variance / y.n];
  if (u + v === 0) return x.mean === y.mean ? 1 : 0;
  const df = (u + v) ** 2 / (u ** 2 / (x.n - 1) + v ** 2 / (y.n - 1));
  return tTwoSided((x.mean - y.mean) / Math.sqrt(u + v), df);
}

interface Moments {
  n: number;
  mean: number;
  variance: number;
}

function moments(samples: number[]): Moments {
  const n = samples.length;
  const mean = samples.reduce((sum, value) => sum + value, 0) / n;
  return { n, mean, variance: samples.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1) };
}

/** MMTests' own "significant": the intervals mean ± 1.96 stddev are disjoint, however many samples there are. */
function overlapScore(a?: { value: number; spread?: number }, b?: { value: number; spread?: number }): number {
  if (a?.spread === undefined || b?.spread === undefined) return 0;
  const width = 1.96 * (a.spread + b.spread);
  return width === 0 ? 0 : Math.abs(a.value - b.value) / width;
}

function asRatio(row: MmtestsRow): MmtestsRow {
  const base = row.values[0] ?? null;
  return {
    ...row,
    values: row.values.map((value) => (value === null || base === null || base === 0 ? null : value / base)),
  };
}

function operationsOf(runs: MmtestsRun[]): Operation[] {
  const seen = new Map<string, Operation>();
  for (const run of runs)
    for (const o of run.operations) seen.set(`${o.metric}\0${o.op}`, seen.get(`${o.metric}\0${o.op}`) ?? o);
  return [...seen.values()];
}

function samplesOf(run: MmtestsRun, metric: string, op: string): number[] {
  return run.operations.find((o) => o.metric === metric && o.op === op)?.samples ?? [];
}
