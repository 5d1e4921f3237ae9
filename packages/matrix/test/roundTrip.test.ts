import { expect, it } from 'vitest';
import { type Matrix, parseMatrix, writeCsv, writeMatrixJson } from '../src/index.ts';

const matrix: Matrix = {
  boots: ['boot-1', 'boot-2', 'boot-3'],
  metrics: new Map([
    ['pft.faults_per_sec', [622936.989, null, 620037.781]],
    ['a,"b"', [0, -1e-300, 3]],
  ]),
};

it.each([
  ['JSON', writeMatrixJson],
  ['CSV', writeCsv],
])('a matrix written as %s is read back the same, with what is missing and names that need quoting', (_, write) => {
  const back = parseMatrix(write(matrix));
  expect([...back.metrics]).toEqual([...matrix.metrics]);
  expect(back.boots).toEqual(matrix.boots);
});
