import { expect, test } from 'vitest';
import { varianceComponents } from '../src/index.ts';

// Yield of six batches of dyestuff (Davies & Goldsmith 1972, table 6.1; `Dyestuff` in R's lme4, whose manual gives the
// variances 1764 between batches and 2451 within, mean 1527.5).
const DYESTUFF = [
  [1545, 1440, 1440, 1520, 1580],
  [1540, 1555, 1490, 1560, 1495],
  [1595, 1550, 1605, 1510, 1560],
  [1445, 1440, 1595, 1465, 1545],
  [1595, 1630, 1515, 1635, 1625],
  [1520, 1455, 1450, 1480, 1445],
];

test('the variance of the dyestuff batches is split as the literature has it', () => {
  const { mean, within, between } = varianceComponents(DYESTUFF);
  expect(mean).toBe(1527.5);
  expect(Math.round(within)).toBe(2451);
  expect(Math.round(between)).toBe(1764);
});

test('groups that scatter less than their members do have no variance of their own', () => {
  // Both groups: mean 2, sum of squares 2.
  expect(
    varianceComponents([
      [1, 3],
      [1, 3],
    ]),
  ).toEqual({ mean: 2, within: 2, between: 0 });
});

test('groups of unequal size count by their size', () => {
  // Means 1, 4; N = 3, mean 2; error 0, df 1; among 2·1 + 1·4 = 6; n₀ = 3 − 5/3 = 4/3; between = 6/(4/3) = 4.5.
  const { between, within } = varianceComponents([[1, 1], [4]]);
  expect(within).toBe(0);
  expect(between).toBeCloseTo(4.5, 12);
});

test('one group, or none with two numbers, is refused', () => {
  expect(() => varianceComponents([[1, 2]])).toThrow(RangeError);
  expect(() => varianceComponents([[1], [2]])).toThrow(RangeError);
});
