import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { compareCommand } from '../src/compare.ts';
import { runCommand } from './runCommand.ts';

const dir = mkdtempSync(join(tmpdir(), 'kdelta-compare-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const KPI = 'dbench.throughput_MB/s';
const steady = { [KPI]: [100, 100.2, 99.8], 'vmstat.cpu.us': [5, 5.1, 4.9] };
const slower = { [KPI]: [80, 80.2, 79.8], 'vmstat.cpu.us': [5, 5.1, 4.9] };

function file(name: string, content: unknown): string {
  const path = join(dir, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const base = file('base.json', steady);
const head = file('head.json', slower);

const run = (args: string[], input?: string) => runCommand(compareCommand(), args, input);

describe('the exit status of kdelta compare', () => {
  it('is 1 when a KPI regressed, and 0 the other way round', async () => {
    expect((await run([base, head])).status).toBe(1);
    expect((await run([head, base])).status).toBe(0);
  });

  it('is 1 when any of several heads regressed', async () => {
    expect((await run([base, base, head])).status).toBe(1);
  });

  it.each([
    ['not JSON', 'nonsense', /bad\.json/],
    ['JSON that is no matrix', '[1, 2]', /bad\.json/],
    ['an empty matrix', '{}', /bad\.json/],
    ['a matrix without a common metric', '{"other.m": [1, 2, 3]}', /no metric in common/],
  ])('is 2 for %s, with one line that names the file', async (_, content, message) => {
    const { out, err, status } = await run([base, file('bad.json', content)]);
    expect([out, status]).toEqual(['', 2]);
    expect(err).toMatch(message);
    expect(err.trimEnd().split('\n')).toHaveLength(1);
  });

  it('is 2 without a head, and for a --want that is no percentage', async () => {
    expect((await run([base])).status).toBe(2);
    expect((await run([base, head, '--want', 'much'])).status).toBe(2);
  });
});

describe('what kdelta compare prints', () => {
  it('says in its first line what regressed, by how much and in how many boots', async () => {
    const first = (await run([base, head])).out.split('\n')[0]!;
    expect(first).toMatch(/regression/);
    expect(first).toMatch(/20\.0 %/);
    expect(first).toMatch(/3 \+ 3 boots/);
  });

  it('--json holds all deltas with the words of the contract', async () => {
    const { out } = await run([base, head, '--json']);
    const judgement = JSON.parse(out);
    expect(judgement.verdict).toBe('regression');
    expect(judgement.deltas.map((d: { metric: string }) => d.metric)).toEqual([KPI, 'vmstat.cpu.us']);
    expect(Object.keys(judgement.deltas[0])).toEqual(
      'metric base head change_pct ci95_pct p q detectable_pct verdict kpi flags'.split(' '),
    );
    // Means 100 and 80, by hand; both scatter by 0.2.
    expect(judgement.deltas[0]).toMatchObject({ kpi: true, base: { n: 3 }, head: { n: 3 }, verdict: 'regression' });
    expect(judgement.deltas[0].change_pct).toBeCloseTo(-20, 9);
    expect(judgement.deltas[0].base.stddev).toBeCloseTo(0.2, 9);
  });

  it('--csv has a line per metric and head, and --kpi leaves only KPIs in CSV and JSON', async () => {
    const metrics = (csv: string) =>
      csv
        .trimEnd()
        .split('\n')
        .slice(1)
        .map((line) => line.split(',')[1]);
    expect(metrics((await run([base, head, '--csv'])).out)).toEqual([KPI, 'vmstat.cpu.us']);
    expect(metrics((await run([base, head, '--csv', '--kpi'])).out)).toEqual([KPI]);
    expect(metrics((await run([base, head, head, '--csv', '--kpi'])).out)).toEqual([KPI, KPI]);
    const { deltas } = JSON.parse((await run([base, head, '--json', '--kpi'])).out);
    expect(deltas.map((delta: { metric: string }) => delta.metric)).toEqual([KPI]);
  });

  it('--csv quotes names that hold a comma or a quote', async () => {
    const odd = file('odd.json', { 'x.a,"b"': [1, 2, 3] });
    expect((await run([odd, odd, '--csv'])).out).toContain('"x.a,""b"""');
  });

  it('a metric named __proto__ is a metric', async () => {
    const odd = file('proto.json', '{"__proto__": [1, 2, 3], "a.b": [1, 2, 3]}');
    const { out, status } = await run([odd, odd, '--json']);
    expect(status).toBe(0);
    expect(JSON.parse(out).deltas.map((delta: { metric: string }) => delta.metric)).toEqual(['__proto__', 'a.b']);
  });

  it('a single boot each proves nothing', async () => {
    const single = (value: number) => file(`single${value}.json`, { [KPI]: [value] });
    const { out, status } = await run([single(100), single(50), '--json']);
    expect([JSON.parse(out).verdict, status]).toEqual(['inconclusive', 0]);
  });
});

describe('kdelta compare --jsonl', () => {
  it('answers every line under its id, a bad one with an error and status 2', async () => {
    const lines = [JSON.stringify({ id: 'a', base: steady, head: slower }), '{"id": "b", "base": 1}', 'nonsense'];
    const { out, err, status } = await run(['--jsonl'], `${lines.join('\n')}\n`);
    const results = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(results.map((result) => result.id)).toEqual(['a', 'b', null]);
    expect(results[0].verdict).toBe('regression');
    expect(results[0].deltas).toHaveLength(2);
    expect(results[1].error).toMatch(/^line 2: /);
    expect(results[2].error).toMatch(/^line 3: /);
    expect(err.trimEnd().split('\n')).toHaveLength(2);
    expect(status).toBe(2);
  });
});
