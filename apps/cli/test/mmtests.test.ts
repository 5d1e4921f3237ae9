import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { buildRegistry } from '@kdelta/matrix';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runMatrix } from '../src/import.ts';
import { matrixRun, printMmtests } from '../src/mmtests/compare.ts';
import { readVmregress } from '../src/mmtests/vmregress.ts';
import { listRuns, readRun } from '../src/mmtests/worklog.ts';

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
