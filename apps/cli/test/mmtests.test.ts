import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { homeDir } from '@kdelta/home';
import { buildRegistry } from '@kdelta/matrix';
import { loadPrograms } from '@kdelta/programs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { extract } from '../src/extract.ts';
import { monitorValues, runMatrix } from '../src/import.ts';
import { matrixRun, mmtestsJson, printMmtests, worklogRuns } from '../src/mmtests/compare.ts';
import { readVmregress } from '../src/mmtests/vmregress.ts';
import { listRuns, readRun } from '../src/mmtests/worklog.ts';

const seedFile = resolve(process.env.KDELTA_SHARED ?? join(homeDir(), '../shared'), 'seeds/000_7c1e33c15c581322.txt');
const seed = existsSync(seedFile) ? readFileSync(seedFile, 'utf8').split('\n') : [];

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'kdelta-mmtests-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const put = (path: string, content: string | Buffer) => {
  mkdirSync(join(dir, path, '..'), { recursive: true });
  writeFileSync(join(dir, path), content);
};
const LINE = '   1    1   1     0.07s     0.59s     0.65s  622936.989 620037.781\n';
const LATER = '   1    1   1     0.09s     0.61s     0.67s  600000.000 610000.000\n';

it('reads the 0.05 layout with its duration and vmstat', () => {
  put('pft-run-a/noprofile/base/pft-1.log', `warning: no numa\n${LINE}${LATER}`);
  put(
    'tests-timestamp-run-a',
    'start :: 1\ntest begin :: pft 2\nfile start :: /proc/vmstat\npgfault 10\nfile end :: /proc/vmstat\npgfault 35\n' +
      'test end :: pft 3 0\ntime :: pft 15.52 user 196.24 system 1:09.88 elapsed\nfinish :: 4\n',
  );
  expect(listRuns(dir, 'pft')).toEqual(['run-a']);
  const [iteration] = readRun(dir, 'pft', 'run-a');
  expect(iteration?.run.duration).toEqual({ user: 15.52, system: 196.24, elapsed: 69.88 });
  const matrix = runMatrix([iteration!], false);
  // (0.07 + 0.09) / 2, and √((0.01² + 0.01²) / 1)
  expect(matrix.metrics.get('pft.User-1')?.[0]).toBeCloseTo(0.08, 12);
  expect(matrix.metrics.get('pft.User-1.stddev')?.[0]).toBeCloseTo(0.014142, 6);
  expect(matrix.metrics.get('proc-vmstat.pgfault')).toEqual([25]);
});

it("reads today's layout: an iteration is a column", () => {
  put('new/iter-0/pft/logs/pft-1.log', LINE);
  put('new/iter-1/pft/logs/pft-1.log', LATER);
  put('new/iter-1/tests-sysstate.gz', gzipSync('time :: pft 1.00 user 2.00 system 3.50 elapsed\n'));
  const matrix = runMatrix(readRun(dir, 'pft', 'new'), false);
  expect(matrix.boots).toEqual(['new/iter-0', 'new/iter-1']);
  expect(matrix.metrics.get('pft.Faults/sec-1')).toEqual([620037.781, 610000]);
  expect(matrix.metrics.get('time.elapsed')).toEqual([null, 3.5]);
});

it('reads monitors in their plain, latency and gzipped forms, in both layouts', async () => {
  const programs = await loadPrograms([join(homeDir(), 'programs')]);
  const fixture = (name: string, file: string) => readFileSync(join(homeDir(), 'programs', name, 'fixtures', file));
  put('pft-a/noprofile/base/pft-1.log', LINE);
  put('vmstat-a-pft', fixture('vmstat', 'latency-stamps'));
  put('slabinfo-a-pft.gz', gzipSync(fixture('slabinfo', 'one-snapshot')));
  put('vmstat-b-pft', 'of another run\n');
  put('b/iter-0/pft/logs/pft-1.log', LINE);
  put('b/iter-0/top-pft.gz', gzipSync(fixture('top', 'two-reports')));
  // A gzip that is cut is named and left out.
  put('b/iter-0/vmstat-pft.gz', gzipSync(fixture('vmstat', 'latency-stamps')).subarray(0, 60));
  const told: string[] = [];
  const values = async (run: string) => {
    const iterations = readRun(dir, 'pft', run);
    const monitors = await monitorValues(iterations, programs, join(dir, 'cache'), (file) => told.push(basename(file)));
    return runMatrix(iterations, false, monitors).metrics;
  };
  const old = await values('a');
  expect(old.get('slabinfo.kmalloc-64.active_objs')).toEqual([2046]);
  expect([...old.keys()].some((metric) => metric.startsWith('vmstat.'))).toBe(true);
  const today = await values('b');
  // Of 1.5 and 1.75.
  expect(today.get('top.load1')).toEqual([1.625]);
  expect(told).toEqual(['vmstat-pft.gz']);
});

describe.skipIf(seed.length === 0)('the seed of MMTests (skipped without ../shared)', () => {
  const raw = seed.filter((line) => /^ {3}1 {4}1 {3}1 /.test(line)).map((line) => line.trimEnd());
  const rows = (first: RegExp) => seed.filter((line) => first.test(line));

  it('extract prints its raw samples', () => {
    put('pft-test-run-1/noprofile/base/pft-1.log', `${raw.join('\n')}\n`);
    const printed = extract({ directory: dir, benchmark: 'pft', name: 'test-run-1', printHeader: true });
    expect(printed.split('\n')[0]!.trim().split(/ +/)).toEqual(
      rows(/^Clients User System Elapsed Faults\/cpu Faults\/sec/)[0]!.split(' '),
    );
    const seedRows = rows(/^1 {11}\d/);
    expect(seedRows).toHaveLength(5);
    expect(
      printed
        .trimEnd()
        .split('\n')
        .slice(1)
        .map((line) => line.trimEnd()),
    ).toEqual(seedRows.map((line) => line.trimEnd()));
  });

  it('extract prints its summary, a row per number of clients', () => {
    const table = rows(/^User {7}\d|^System {5}\d|^Elapsed {4}\d|^Faults\/(cpu|sec) \d/);
    const mean = (metric: string, client: number) => {
      const row = table.find((line) => line.startsWith(`${metric.padEnd(10)} ${client}`))!;
      return Number(row.slice(12, 24).trim());
    };
    for (let client = 1; client <= 8; client++) {
      const [user, system, wall, cpu, sec] = ['User', 'System', 'Elapsed', 'Faults/cpu', 'Faults/sec'].map((metric) =>
        mean(metric, client),
      ) as [number, number, number, number, number];
      // The table's means have four decimals, a log's times two: 20 samples that have this mean.
      const low = (value: number, i: number) => (Math.floor(value * 100 + 1e-9) + (i < share(value) ? 1 : 0)) / 100;
      const share = (value: number) => Math.round((value * 100 - Math.floor(value * 100 + 1e-9)) * 20);
      const lines = Array.from({ length: 20 }, (_, i) =>
        [
          '   1 ',
          String(client).padStart(4),
          '   1 ',
          ...[user, system, wall].map((value) => `${low(value, i).toFixed(2).padStart(8)}s `),
          ` ${cpu.toFixed(4)} ${sec.toFixed(4)}`,
        ].join(''),
      );
      put(`pft-test-run-1/noprofile/base/pft-${client}.log`, `${lines.join('\n')}\n`);
    }
    const printed = extract({
      directory: dir,
      benchmark: 'pft',
      name: 'test-run-1',
      printHeader: true,
      printSummary: true,
    });
    const summary = [...rows(/^Clients User {8}System/), ...rows(/^\d {7}0\.\d\d {8}/)];
    expect(summary).toHaveLength(9);
    expect(
      printed
        .trimEnd()
        .split('\n')
        .map((line) => line.trimEnd()),
    ).toEqual(summary.map((line) => line.trimEnd()));
  });

  it('--print-monitor duration and vmstat print its numbers from two work logs', () => {
    const stamps = (time: string, counters: Record<string, number>) =>
      `start :: 1\ntest begin :: pft 2\nfile start :: /proc/vmstat\n${Object.keys(counters)
        .map((name) => `${name} 1000\n`)
        .join('')}file end :: /proc/vmstat\n${Object.entries(counters)
        .map(([name, grown]) => `${name} ${1000 + grown}\n`)
        .join('')}test end :: pft 3 0\ntime :: pft ${time} elapsed\nfinish :: 4\n`;
    for (const run of ['test-run-1', 'test-run-2']) put(`pft-${run}/noprofile/base/pft-1.log`, LINE);
    put(
      'tests-timestamp-test-run-1',
      stamps('15.52 user 196.24 system 1:09.88', {
        pgpgin: 4440,
        pgpgout: 34876,
        pgscan_kswapd_dma: 99986,
        pgscan_kswapd_normal: 100000,
        pgsteal_kswapd_normal: 199981,
        slabs_scanned: 145408,
        kswapd_inodesteal: 33392,
      }),
    );
    put('tests-timestamp-test-run-2', stamps('14.83 user 184.81 system 1:01.51', { pgpgin: 0, pgpgout: 4440 }));
    const runs = worklogRuns({ directory: dir, runs: 'test-run-1,test-run-2' });
    const words = (lines: string[]) =>
      lines.map((line) => line.trim().replace(/\s+/g, ' ')).filter((line) => line !== '');
    const block = (first: string, last: string) => {
      const from = seed.findIndex((line) => line.startsWith(first));
      return words(seed.slice(from, seed.findIndex((line) => line.startsWith(last)) + 1));
    };
    const printed = (printMonitor: string) => words(printMmtests(runs, { printMonitor }).split('\n')).slice(2);
    expect(printed('duration')).toEqual(block('User 15.52', 'Elapsed 69.88'));
    // 199981 of 199986 pages; 199986 pages in 69.88 s.
    const json = mmtestsJson(runs) as { runs: { reclaim: { kswapdEfficiency: number; kswapdVelocity: number } }[] };
    expect(json.runs[0]!.reclaim.kswapdEfficiency).toBeCloseTo((100 * 199981) / 199986, 10);
    expect(json.runs[0]!.reclaim.kswapdVelocity).toBeCloseTo(2861.849, 3);
    expect(printed('vmstat')).toEqual(block('Page Ins', 'Compaction move failure'));
  });

  it('compare --style mmtests prints its 42 lines byte for byte from matrices of its means', () => {
    const from = seed.findIndex((line) => /^ {30}test {18}test/.test(line));
    const expected = seed.slice(from, from + 42);
    const runs = [12, 34].map((column, i) => {
      const metrics = expected.slice(2).map((line): [string, number[]] => {
        const name = `pft.${line.slice(0, 10).trim()}-${line.slice(11, 12)}`;
        return [name, [Number(line.slice(column, column + 12))]];
      });
      return matrixRun(`test-run-${i + 1}`, { boots: ['1'], metrics: new Map(metrics) }, buildRegistry());
    });
    expect(printMmtests(runs, {})).toBe(`${expected.join('\n')}\n`);
  });
});

it('names the runs there are when one is missing, and refuses a log without results', () => {
  put('pft-a/noprofile/base/pft-1.log', LINE);
  expect(() => readRun(dir, 'pft', 'b')).toThrow(/no run b of pft; there are: a/);
  put('pft-c/noprofile/base/pft-1.log', 'killed\n');
  expect(() => readRun(dir, 'pft', 'c')).toThrow(/no pft result/);
});

it('reads VM Regress data: times, presence and what the kernel kept', () => {
  put('linear_4/mapanon-time.data', '0 2\n1 4\n2 2000\n3 2\n');
  put('linear_4/mapanon-pagemap.data', '0 1\n1 0\n2 1\n3 0\n');
  put('linear_4/mapanon-refcount.data', '0 9\n1 8\n2 1\n3 1\n');
  const { metrics } = readVmregress(dir);
  expect(metrics.get('mapanon.linear_4.avg_us')).toEqual([502]);
  expect(metrics.get('mapanon.linear_4.over_1ms')).toEqual([1]);
  expect(metrics.get('mapanon.linear_4.present')).toEqual([2]);
  // The two hottest pages are 0 and 1; of them only 0 is present.
  expect(metrics.get('mapanon.linear_4.retention_refcount')).toEqual([0.5]);
});

it('compares matrices in the layout of 0.05, and keeps wide numbers apart when asked', () => {
  const matrix = (value: number) => ({ boots: ['1'], metrics: new Map([['pft.Faults/sec-2', [value]]]) });
  const runs = [1028256.2315, 1213980.6263].map((value, i) =>
    matrixRun(`test-run-${i + 1}`, matrix(value), buildRegistry()),
  );
  // The seed's own line, its number run into the client's, and the same repaired.
  expect(printMmtests(runs, {})).toContain('\nFaults/sec 21028256.2315 (  0.00%)1213980.6263 ( 18.06%)\n');
  expect(printMmtests(runs, { apart: true })).toContain(
    '\nFaults/sec 2 1028256.2315 (  0.00%) 1213980.6263 ( 18.06%)\n',
  );
});
