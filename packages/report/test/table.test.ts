import { buildRegistry, matrixFromObject } from '@kdelta/matrix';
import { judge } from '@kdelta/stats';
import { describe, expect, it } from 'vitest';
import { renderTable } from '../src/table.ts';

/** Two boots with this mean whose standard deviation (n − 1) is this share of it. */
function pair(mean: number, share: number): [number, number] {
  const step = (mean * share) / Math.SQRT2;
  return [mean - step, mean + step];
}

const base = matrixFromObject({
  'dmesg.WARNING:at_mm/foo.c:#bar': [0, 0, 0],
  'dbench.throughput_MB/s': [13551, null, null],
  'dbench.max_latency': [...pair(54.65, 0.08), null],
  'mpstat.cpu.all.soft%': [24.47, null, null],
  'numa-numastat.node0.local_node': [179_200_000, null, null],
  'sched_debug.steady': [5, 5, 5],
  'x.grown': [0, 0, 0],
  'x.lost': [1, 2, 3],
});
const none = [null, null, null, null];
const head = matrixFromObject({
  'dmesg.WARNING:at_mm/foo.c:#bar': [1, 0, 0, 1, 0, 0],
  'dbench.throughput_MB/s': [12021, null, ...none],
  'dbench.max_latency': [...pair(99.55, 0.16), ...none],
  'mpstat.cpu.all.soft%': [17.3, null, ...none],
  'numa-numastat.node0.local_node': [155_000_000, null, ...none],
  'sched_debug.steady': [5, 5, 5, 5, 5, 5],
  'x.grown': [1, 2, 3, 1, 2, 3],
});
const deltas = judge({ base, head, registry: buildRegistry() }).deltas;
const columns = [
  { heading: '1122334455667788990011223344556677889900', subject: 'mm: prepare foo', matrix: base },
  { heading: '4f1e2d3c4b5a69788796a5b4c3d2e1f00112233', subject: 'mm: batch foo under lock', matrix: head },
];

// The layout and its rows: ncompare's format, as the public mails of the kernel test robot show it.
describe('the ncompare table', () => {
  const text = renderTable({
    columns,
    deltas: [deltas],
    rows: 'all',
    axes: [
      ['kconfig', 'x'],
      ['testcase', 'dbench'],
    ],
  });

  it('begins with axes, commits and two headings of 16 and 27 characters', () => {
    expect(text.split('\n').slice(0, 9)).toEqual([
      '=========================================================================================',
      'kconfig/testcase:',
      '  x/dbench',
      '',
      'commit:',
      '  1122334455 ("mm: prepare foo")',
      '  4f1e2d3c4b ("mm: batch foo under lock")',
      '',
      '1122334455667788 4f1e2d3c4b5a69788796a5b4c3d',
    ]);
  });

  it('puts failures first, as fails:runs with the difference of the rates', () => {
    expect(text.split('\n').slice(9, 15)).toEqual([
      '---------------- ---------------------------',
      '       fail:runs  %reproduction    fail:runs',
      '           |             |             |',
      '           :3           33%           2:6     dmesg.WARNING:at_mm/foo.c:#bar',
      '         %stddev     %change         %stddev',
      '             \\          |                \\',
    ]);
  });

  it.each([
    '     13551           -11.3%      12021        dbench.throughput_MB/s',
    '     54.65 ±  8%     +82.2%      99.55 ± 16%  dbench.max_latency',
    '     24.47            -7.2       17.30        mpstat.cpu.all.soft%',
    ' 1.792e+08           -13.5%   1.55e+08        numa-numastat.node0.local_node',
    // Ours: the deviation is always printed where two boots tell it, and what is missing is never 0.
    '      5.00 ±  0%      +0.0%       5.00 ±  0%  sched_debug.steady',
    '      2.00 ± 50%      gone                    x.lost',
  ])('prints %j', (row) => {
    expect(text.split('\n')).toContain(row);
  });

  it('calls a rise from 0 new, without a percentage', () => {
    expect(text).toMatch(/^ {6}0\.00 +new +2\.00 ± 45% {2}x\.grown$/m);
  });

  it('gives each further kernel a column of 27, blank where it has no such metric', () => {
    const other = judge({
      base,
      head: matrixFromObject({ 'sched_debug.steady': [6, 6, 6] }),
      registry: buildRegistry(),
    });
    const three = renderTable({
      columns: [...columns, { heading: 'third', matrix: head }],
      deltas: [deltas, other.deltas.filter((delta) => delta.metric === 'sched_debug.steady')],
      rows: 'all',
    });
    expect(three).toContain('     13551           -11.3%      12021');
    expect(three).toContain(
      '      5.00 ±  0%      +0.0%       5.00 ±  0%     +20.0%       6.00 ±  0%  sched_debug.steady',
    );
    expect(three).toMatch(/^-{16} -{27} -{27}$/m);
  });
});
