import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ContestRun, renderContest } from '../src/index.ts';

const shared = process.env.KDELTA_SHARED ?? resolve(import.meta.dirname, '../../../../shared');
const file = resolve(shared, 'vectors/seed-systems.json');

interface Row {
  source: string;
  load: string;
  kernel: string;
  time_str: string;
  time_s: number;
  cpu_pct: number;
  ratio: number;
}
const rows: Row[] = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).contest : [];
const of = (source: string) => rows.filter((row) => row.source === source);

/** One boot per kernel; the report's noload is our no_load. */
function runsOf(found: Row[]): ContestRun[] {
  return [...new Set(found.map((row) => row.kernel))].map((name) => ({
    name,
    matrix: {
      boots: ['1'],
      metrics: new Map(
        found
          .filter((row) => row.kernel === name)
          .flatMap((row) => {
            const load = row.load === 'noload' ? 'no_load' : row.load;
            return [
              [`contest.${load}.time`, [row.time_s]],
              [`contest.${load}.cpu_pct`, [row.cpu_pct]],
            ] as [string, number[]][];
          }),
      ),
    },
  }));
}

const run = (name: string, metrics: Record<string, (number | null)[]>): ContestRun => ({
  name,
  matrix: {
    boots: ['1', '2', '3'],
    metrics: new Map(Object.entries(metrics).map(([key, row]) => [`contest.${key}`, row])),
  },
});

describe.skipIf(rows.length === 0)('the contest reports of 2002 (skipped without ../shared)', () => {
  it.each(['kolivas', 'ciarrocchi'])('prints the rows of %s as they were posted, a table per load', (source) => {
    const lines = renderContest(runsOf(of(source)), 'seed').split('\n');
    expect(lines.filter((line) => line === 'Kernel Time CPU')).toHaveLength(5);
    expect(lines.filter((line) => line.endsWith('%'))).toEqual(
      of(source).map((row) => `${row.kernel} ${row.time_str} ${row.cpu_pct}%`),
    );
  });

  it.each(['kolivas', 'ciarrocchi'])('gives each kernel of %s the ratio to its own unloaded compile', (source) => {
    const ratios = renderContest(runsOf(of(source)), 'later')
      .split('\n')
      .filter((line) => /\[1\]/.test(line))
      .map((line) => Number(line.trim().split(/\s+/).at(-1)));
    expect(ratios).toEqual(of(source).map((row) => row.ratio));
  });
});

it('counts runs, shows what the load did, and keeps a compile that never ended as a row', () => {
  const table = renderContest(
    [
      run('2.5.33', {
        // The mean of 79, 80 and 81 is 80; 92 / 80 = 1.15.
        'no_load.time': [79, 80, 81],
        'no_load.cpu_pct': [99, 99, 99],
        'io_load_full.time': [92, null, 92],
        'io_load_full.cpu_pct': [85, null, 85],
        'io_load_full.loads': [4, null, 6],
        'io_load_full.lcpu_pct': [20, null, 20],
        'io_load_full.timeout': [null, 1, null],
      }),
      run('2.5.34', { 'no_load.time': [80], 'no_load.cpu_pct': [99], 'io_load_full.timeout': [1] }),
    ],
    'later',
  );
  const cells = table.split('\n').map((line) => line.trim().split(/ {2,}/));
  expect(cells.slice(0, 4)).toEqual([
    ['no_load:'],
    ['Kernel', '[runs]', 'Time', 'CPU%', 'Loads', 'LCPU%', 'Ratio'],
    ['2.5.33', '[3]', '80.0', '99', '0', '0', '1.00'],
    ['2.5.34', '[1]', '80.0', '99', '0', '0', '1.00'],
  ]);
  expect(cells.slice(6, 8)).toEqual([
    ['2.5.33', '[2, 1 timeout]', '92.0', '85', '5', '20', '1.15'],
    ['2.5.34', '[0, 1 timeout]', 'timeout', 'n/a', '0', '0', 'n/a'],
  ]);
});

it('says that results of another benchmark are none of contest', () => {
  const other = { name: 'a', matrix: { boots: ['1'], metrics: new Map([['pft.elapsed_time', [1]]]) } };
  expect(() => renderContest([other], 'seed')).toThrow(/no results of contest/);
});
