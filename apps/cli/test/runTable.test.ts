import { buildRegistry } from '@kdelta/matrix';
import { expect, test } from 'vitest';
import { bootFailures, bootTable } from '../src/runTable.ts';

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

test('why boots failed is said once for all that failed alike, with the last lines of output', () => {
  const incomplete = { class: 'test' as const, code: 'KD_TEST_INCOMPLETE', message: 'pft ended without rate' };
  const boots = [
    { id: 4, failure: { ...incomplete, excerpt: 'starting\n8.2 faults' } },
    { id: 5, failure: null },
    { id: 6, failure: { ...incomplete, excerpt: 'starting\n9.1 faults' } },
    { id: 7, failure: { class: 'boot' as const, code: 'KD_BOOT_PANIC', message: 'kernel panic: oops' } },
  ];
  expect(bootFailures(boots)).toBe(
    [
      'kdelta: boots 4, 6 failed: pft ended without rate (KD_TEST_INCOMPLETE)',
      '  | starting',
      '  | 8.2 faults',
      'kdelta: boot 7 failed: kernel panic: oops (KD_BOOT_PANIC)',
      '',
    ].join('\n'),
  );
  expect(bootFailures([{ id: 5, failure: null }])).toBe('');
});
