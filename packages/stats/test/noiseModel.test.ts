import { buildRegistry, type Matrix } from '@kdelta/matrix';
import { expect, test } from 'vitest';
import { noiseModel } from '../src/index.ts';

const registry = buildRegistry();
const matrix = (metrics: Record<string, (number | null)[]>): Matrix => ({
  boots: Object.values(metrics)[0]!.map((_, i) => String(i)),
  metrics: new Map(Object.entries(metrics)),
});

test("a metric's noise is what its kernels' boots scatter, their own levels taken out, older boots faded", () => {
  const [one] = noiseModel([matrix({ 'a.x': [9, 11] }), matrix({ 'a.x': [18, 20, 22] })], registry);
  // The newer kernel: mean 20, squares 8, relative 8/400 = 0.02, 2 degrees. Three boots older, so by 2^(−3/64), the other:
  // mean 10, squares 2, relative 0.02, 1 degree.
  const weight = 2 ** (-3 / 64);
  expect(one!.df).toBeCloseTo(2 + weight, 12);
  expect(one!.relVariance).toBeCloseTo((0.02 + weight * 0.02) / (2 + weight), 12);
  // Means 10 and 20: variance 50 around 15.
  expect(one).toMatchObject({ metric: 'a.x', level: 20, betweenVariance: 50 / 225, kernels: 2, boots: 5 });
});

test('a renamed metric is one, under its newest name, and a KPI by it', () => {
  const model = noiseModel(
    [matrix({ 'pf.faults_per_sec': [1, 1] }), matrix({ 'pft.faults_per_sec': [2, 2] })],
    registry,
  );
  expect(model).toEqual([expect.objectContaining({ metric: 'pft.faults_per_sec', kpi: true, kernels: 2 })]);
});

test('boots without a number count for nothing, and failures have no noise', () => {
  const model = noiseModel(
    [matrix({ 'a.x': [null, null], 'dmesg.fail': [1, 0] }), matrix({ 'a.x': [3, null], 'dmesg.fail': [0, 0] })],
    registry,
  );
  expect(model).toEqual([
    { metric: 'a.x', kpi: false, level: 3, betweenVariance: null, kernels: 1, boots: 1, relVariance: 0, df: 0 },
  ]);
});

test('the order of metrics does not matter', () => {
  const rows: [string, number[]][] = [
    ['b.y', [1, 2]],
    ['a.x', [3, 4]],
  ];
  const there = noiseModel([matrix(Object.fromEntries(rows))], registry);
  expect(there.map(({ metric }) => metric)).toEqual(['a.x', 'b.y']);
  expect(noiseModel([matrix(Object.fromEntries(rows.reverse()))], registry)).toEqual(there);
});
