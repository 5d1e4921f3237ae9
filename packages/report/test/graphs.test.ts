import { describe, expect, it } from 'vitest';
import { ticks } from '../src/graphs/svg.ts';
import {
  type FaultHistogram,
  faultHistogramOf,
  faultHistogramText,
  type MapanonRun,
  mapanonGraphs,
  mapanonPage,
  readMapanonFiles,
  recut,
  sharedScale,
} from '../src/index.ts';

/** Ying Han's example of 2011. */
const seed: FaultHistogram = {
  bounds: [600, 1200, 2400, 4800, 9600, 19200, 38400],
  times: [0],
  counts: [[2051273, 40859, 4004, 1605, 170, 82, 6, 0]],
};

describe('the fault histogram', () => {
  it('prints as the memcg patch did', () => {
    expect(faultHistogramText(seed)).toBe(
      'pgfault latency histogram (ns):\n< 600            2051273\n< 1200           40859\n< 2400           4004\n< 4800           1605\n' +
        '< 9600           170\n< 19200          82\n< 38400          6\n< inf            0\n',
    );
  });
  it('keeps its total under other bounds', () => {
    // 2051273 + 40859 | 4004 + 1605 + 170 + 82 | 6 + 0
    expect(recut(seed, [1200, 19200]).counts).toEqual([[2092132, 5861, 6]]);
  });
  it('adds up the iterations of a benchmark, and takes counters that grow as they are', () => {
    const samples = {
      'x.latency_<1200ns': [3, 4],
      'x.latency_<600ns': [1, 5],
      'x.latency_<infns': [0, 1],
      'x.time': [7, 9],
    };
    expect(faultHistogramOf(samples, { prefix: 'x.', cumulative: false })).toEqual({
      bounds: [600, 1200],
      times: [0, 1],
      counts: [
        [1, 3, 0],
        [6, 7, 1],
      ],
    });
    expect(faultHistogramOf(samples, { prefix: 'x.', cumulative: true, times: samples['x.time'] })).toEqual({
      bounds: [600, 1200],
      times: [7, 9],
      counts: [
        [1, 3, 0],
        [5, 4, 1],
      ],
    });
    expect(faultHistogramOf({ 'x.time': [1] }, { prefix: 'x.', cumulative: true })).toBeNull();
  });

  it('refuses bounds that do not ascend', () => {
    expect(() => recut(seed, [2400, 600])).toThrow(/must ascend/);
  });

  it('refuses bounds that cut through a bucket', () => {
    expect(() => recut(seed, [1000])).toThrow(/1000 cut through.*600, 1200/);
  });
});

const run = (name: string, times: number[]): MapanonRun => ({
  name,
  times: Float64Array.from(times),
  pages: Uint32Array.from(times, (_, i) => i % 4),
  refcount: Uint32Array.of(3, 2, 1, 0),
  age: Uint32Array.of(0, 1, 2, 9),
  present: Uint8Array.of(1, 1, 0, 0),
  swapped: Uint8Array.of(0, 0, 1, 0),
});

describe('mapanon graphs', () => {
  const quiet = run('base', Array(2000).fill(2));
  const spiky = run('head', [...Array(1999).fill(2), 5000]);

  it('share their scales, so the slower kernel sets the unscaled top for both', () => {
    const scale = sharedScale([quiet, spiky]);
    expect(scale.timeMax).toBe(5000);
    expect(scale.timeScaled).toBeLessThan(5000);
  });
  it('show a single spike among thousands of accesses', () => {
    const scale = sharedScale([quiet, spiky]);
    // The spike reaches the top of the plot: y = 26 in user units.
    expect(mapanonGraphs(spiky, scale)['time-unscaled']).toMatch(/V26[" ]/);
    expect(mapanonGraphs(quiet, scale)['time-unscaled']).not.toMatch(/V26[" ]/);
  });
  it('escape what a run is called', () => {
    expect(mapanonPage([run('<script>', [1]), quiet])).not.toContain('<script>');
  });
  it('draw vmstat on a logarithmic axis, as what is swapped is little beside what is free', () => {
    const row = { time: 0, swpd: 0, free: 1_000_000, buff: 100, cache: 10_000 };
    const with2 = { ...quiet, vmstat: [row, { ...row, time: 10, swpd: 10_000 }] };
    const svg = mapanonGraphs(with2, sharedScale([with2])).vmstat!;
    // From 100 kB at y = 222 to 1,000,000 kB at y = 26: a decade is 49, so 10,000 kB stand at 222 − 2 · 49.
    expect(svg).toContain('d="M64 222L628 124"');
    expect(svg).toContain('d="M64 26L628 26"');
    expect([...svg.matchAll(/class="y"[^>]*>([^<]+)/g)].map((match) => match[1])).toEqual([
      '100',
      '1000',
      '10k',
      '100k',
      '1M',
    ]);
  });
  it('count pages present and swapped', () => {
    expect(mapanonPage([quiet])).toContain('<td>2000</td><td>4</td><td>2</td><td>1</td>');
  });
});

describe('the files of a run', () => {
  const files = { time: '0 1.5\n1 2.5\n', pagemap: '0 1 0\n1 0 1\n', refcount: '0 1\n1 1\n', age: '0 1\n1 0\n' };
  it('are read with the reference file and the memory columns of vmstat, by their names', () => {
    const vmstat =
      'procs ---memory---\n r  b   swpd   buff   free  cache                 UTC\n' +
      ' 1  0      5      7      6      8 2026-12-01 03:00:01\n' +
      ' 1  0      9      7      6      8 2026-12-01 03:00:03\n 1  0      9      7';
    expect(readMapanonFiles('a', { ...files, pagereferences: '2 2\n0\n1\n', vmstat })).toEqual({
      name: 'a',
      times: Float64Array.of(1.5, 2.5),
      pages: Uint32Array.of(0, 1),
      refcount: Uint32Array.of(1, 1),
      age: Uint32Array.of(1, 0),
      present: Uint8Array.of(1, 0),
      swapped: Uint8Array.of(0, 1),
      vmstat: [
        { time: 0, swpd: 5, free: 6, buff: 7, cache: 8 },
        { time: 2, swpd: 9, free: 6, buff: 7, cache: 8 },
      ],
    });
  });

  it('take memory from meminfo where there is one, as vmstat of procps 4.0.2 repeats its first numbers', () => {
    const meminfo = (time: number, free: number, swapFree: number) =>
      `time: ${time}\nMemTotal: 100 kB\nMemFree: ${free} kB\nBuffers: 2 kB\nCached: 30 kB\nSwapCached: 9 kB\nSwapTotal: 50 kB\nSwapFree: ${swapFree} kB\nSReclaimable: 4 kB\n`;
    const vmstat = ' r  b swpd free buff cache UTC\n 1  0 1 2 3 4 2026-12-01 03:00:01\n';
    const text = `${meminfo(7.5, 60, 50)}${meminfo(8.5, 40, 35)}time: 9.5\nMemTotal: 100 kB\nMemFr`;
    expect(readMapanonFiles('a', { ...files, meminfo: text, vmstat }).vmstat).toEqual([
      { time: 0, swpd: 0, free: 60, buff: 2, cache: 34 },
      { time: 1, swpd: 15, free: 40, buff: 2, cache: 34 },
    ]);
  });

  it('of VM Regress itself have no column for what is swapped', () => {
    expect(readMapanonFiles('a', { ...files, pagemap: '0 1\n1 0\n' }).swapped).toEqual(Uint8Array.of(0, 0));
  });

  it.each([
    [{ time: '0 1.5\n1\n' }, 'time, line 2: not 2 numbers'],
    [{ refcount: '0 1\n1 x\n' }, 'refcount, line 2: not 2 numbers'],
    [{ age: '0 1\n' }, 'age: 1 pages where pagemap has 2'],
  ])('are refused where %j isn’t what it should be', (broken, message) => {
    expect(() => readMapanonFiles('a', { ...files, ...broken })).toThrow(message);
  });
});

it('ticks are round', () => {
  expect(ticks(98)).toEqual([0, 20, 40, 60, 80]);
});
