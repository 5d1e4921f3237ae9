import type { Matrix } from '@kdelta/matrix';
import { fixed } from '@kdelta/stats';

export interface ContestRun {
  /** What the kernel is called in the table. */
  name: string;
  /** With contest's metrics: `contest.<load>.time` in s, `cpu_pct`, `loads`, `lcpu_pct`, `timeout`. */
  matrix: Matrix;
}

/** `seed`: Kernel, Time, CPU, as contest 0.20 was reported in 2002. `later`: with runs, loads and ratio, as in 2003. */
export type ContestForm = 'seed' | 'later';

/**
 * A table per load, a row per kernel, in the order in which matrices and loads come. Time, CPU and loads are means over the
 * boots; [runs] counts the boots that have a time; Ratio is Time over the same kernel's no_load time. A compile that was
 * stopped at its limit in every boot is a row that says `timeout`, never a gap. Throws RangeError when nothing is contest's.
 */
export function renderContest(runs: ContestRun[], form: ContestForm): string {
  const loads = new Set<string>();
  for (const { matrix } of runs)
    for (const metric of matrix.metrics.keys()) {
      const load = /^contest\.(\w+)\.(?:time|timeout)$/.exec(metric)?.[1];
      if (load) loads.add(load);
    }
  if (loads.size === 0) throw new RangeError('no metric contest.<load>.time: these are no results of contest');
  return [...loads]
    .map((load) => `${load}:\n${form === 'seed' ? seedTable(runs, load) : laterTable(runs, load)}`)
    .join('');
}

function seedTable(runs: ContestRun[], load: string): string {
  const lines = ['Kernel Time CPU'];
  for (const run of runs) {
    const time = meanOf(run, load, 'time');
    if (time !== null) lines.push(`${run.name} ${clock(time)} ${whole(meanOf(run, load, 'cpu_pct'))}%`);
    else if (stopped(run, load) > 0) lines.push(`${run.name} timeout`);
  }
  return `${lines.join('\n')}\n`;
}

function laterTable(runs: ContestRun[], load: string): string {
  const rows = [['Kernel', '[runs]', 'Time', 'CPU%', 'Loads', 'LCPU%', 'Ratio']];
  for (const run of runs) {
    const time = meanOf(run, load, 'time');
    const timeouts = stopped(run, load);
    if (time === null && timeouts === 0) continue;
    const alone = meanOf(run, 'no_load', 'time');
    const count = values(run, load, 'time').length;
    rows.push([
      run.name,
      timeouts > 0 ? `[${count}, ${timeouts} timeout]` : `[${count}]`,
      time === null ? 'timeout' : fixed(time, 1),
      whole(meanOf(run, load, 'cpu_pct')),
      whole(meanOf(run, load, 'loads') ?? 0),
      whole(meanOf(run, load, 'lcpu_pct') ?? 0),
      time === null || alone === null || alone === 0 ? 'n/a' : fixed(time / alone, 2),
    ]);
  }
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) => row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]! + 2))).join(''))
    .map((line) => `${line}\n`)
    .join('');
}

function values(run: ContestRun, load: string, field: string): number[] {
  return (run.matrix.metrics.get(`contest.${load}.${field}`) ?? []).filter((value) => value !== null);
}

/** Boots in which the compile was stopped at its limit. */
function stopped(run: ContestRun, load: string): number {
  return values(run, load, 'timeout').filter((value) => value > 0).length;
}

function meanOf(run: ContestRun, load: string, field: string): number | null {
  const found = values(run, load, field);
  return found.length === 0 ? null : found.reduce((sum, value) => sum + value, 0) / found.length;
}

/** 67.74 s is `1:07.74`; hours count as minutes, as time(1) in its short form did in the seed. */
function clock(seconds: number): string {
  const hundredths = Math.round(seconds * 100);
  const minutes = Math.floor(hundredths / 6000);
  return `${minutes}:${fixed((hundredths - minutes * 6000) / 100, 2).padStart(5, '0')}`;
}

const whole = (value: number | null): string => (value === null ? 'n/a' : fixed(value, 0));
