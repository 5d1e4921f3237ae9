import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { histogramCommand } from '../src/histogram.ts';
import { runCommand } from './runCommand.ts';

const dir = mkdtempSync(join(tmpdir(), 'kdelta-histogram-'));
const fixture = (name: string) => join(import.meta.dirname, '../../../programs/pgfault-latency/fixtures', name);

const run = (...args: string[]) => runCommand(histogramCommand(), ['pgfault-latency', ...args]);
afterEach(() => rmSync(join(dir, 'x.svg'), { force: true }));

it("prints a raw output's histogram as text, under other bounds, and draws it", async () => {
  // The fixture's last sample: 10 below 600 ns, 7 below 1200 ns, 2 + 1 above.
  expect((await run(fixture('ftrace'))).out).toBe(
    'pgfault latency histogram (ns):\n< 600            10\n< 1200           7\n< inf            3\n',
  );
  const cut = await run(fixture('ftrace'), '--bounds', '1200', '--heat-map', join(dir, 'x.svg'));
  expect(cut.out).toBe('pgfault latency histogram (ns):\n< 1200           17\n< inf            3\n');
  expect(existsSync(join(dir, 'x.svg')) && readFileSync(join(dir, 'x.svg'), 'utf8')).toMatch(/<svg/);
});

it("cuts ftrace's finer buckets at bounds that were not asked for when it ran", async () => {
  // The last sample's buckets are 600 ns wide: 10 below 600, 7 below 1200, 2 from 1200 on, 1 from 5400 on.
  expect((await run(fixture('ftrace'), '--bounds', '1800,5400')).out).toBe(
    'pgfault latency histogram (ns):\n< 1800           19\n< 5400           0\n< inf            1\n',
  );
  expect((await run(fixture('ftrace'), '--bounds', '900')).err).toMatch(/bounds 900 cut through a bucket/);
});

it('prints the counts of one cgroup, and names those there are', async () => {
  expect((await run(fixture('bpftrace'), '--cgroup', '/a/sub')).out).toMatch(
    /\n< 4800 +0\n< 9600 +1263\n< 19200 +0\n< inf +58\n$/,
  );
  expect(await run(fixture('bpftrace'), '--cgroup', '/a')).toMatchObject({
    err: 'kdelta: no histogram of cgroup /a; there are: /b, /, /a/sub, 91\n',
    status: 2,
  });
});

it.each([
  ['700', /bounds 700 cut through a bucket; possible are 600, 1200/],
  ['1200,600', /must ascend/],
  ['1200,x', /expected numbers of ns/],
])('refuses --bounds %s with status 2', async (bounds, message) => {
  const { err, status, out } = await run(fixture('ftrace'), '--bounds', bounds);
  expect(err).toMatch(message);
  expect([status, out]).toEqual([2, '']);
});
