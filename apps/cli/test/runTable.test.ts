import { buildRegistry } from '@kdelta/matrix';
import { expect, test } from 'vitest';
import { bootTable } from '../src/runTable.ts';

const metrics = buildRegistry([{ name: 'pft', metrics: { rate: { kpi: true } } }]);
const options = { title: 'pft on h', program: 'pft', metrics, all: false, overheads: [1.25, null] };

test("KPIs come first, a boot without a number is shown as one, and monitors' metrics are counted", () => {
  const matrix = {
    boots: ['1', '2', '3'],
    metrics: new Map([
      ['pft.a', [1, 1, 1]],
      // Mean 10, deviation √((1 + 1) / 1) = 1.414: 14 %.
      ['pft.rate', [9, null, 11]],
      ['vmstat.x', [1, 2, 3]],
    ]),
  };
  expect(bootTable(matrix, options)).toBe(
    [
      'pft on h',
      '  metric    mean  stddev  each boot',
      '* pft.rate    10    ±14%  9 - 11',
      '  pft.a        1     ±0%  1 1 1',
      '  and 1 metrics of monitors (--all)',
      '  seconds per boot beside guest start and program: 1.3 -',
      '',
    ].join('\n'),
  );
});

test('without a finished boot there is a table without rows', () => {
  expect(bootTable({ boots: [], metrics: new Map() }, { ...options, overheads: [] })).toContain('  metric  mean');
});
