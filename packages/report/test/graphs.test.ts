import { describe, expect, it } from 'vitest';
import { ticks } from '../src/graphs/svg.ts';
import {
  type FaultHistogram,
  faultHistogramOf,
  faultHistogramText,
  type MapanonRun,
  mapanonGraphs,
  mapanonPage,
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
  it('count pages present and swapped', () => {
    expect(mapanonPage([quiet])).toContain('<td>2000</td><td>4</td><td>2</td><td>1</td>');
  });
});

it('ticks are round', () => {
  expect(ticks(98)).toEqual([0, 20, 40, 60, 80]);
});
