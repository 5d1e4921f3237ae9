import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type MmtestsRun, type Operation, parsePftLogs } from '@kdelta/matrix';
import { describe, expect, it } from 'vitest';
import { gain, reclaimFigures, renderDuration, renderMmtests, renderVmstat } from '../src/index.ts';

const shared = process.env.KDELTA_SHARED ?? resolve(import.meta.dirname, '../../../../shared');
const vectorFile = resolve(shared, 'vectors/seed-systems.json');
const vectors = existsSync(vectorFile) ? JSON.parse(readFileSync(vectorFile, 'utf8')) : null;

const run = (name: string, operations: Operation[]): MmtestsRun => ({ name, benchmark: 'pft', operations });

describe.skipIf(!vectors)('the MMTests 0.05 announcement (skipped without ../shared)', () => {
  it('prints its 42-line comparison of pft byte for byte from the means', () => {
    const operations = (side: 'base' | 'new'): Operation[] =>
      // biome-ignore lint/suspicious/noExplicitAny: a row of the vector file
      vectors.rows.map((row: any) => ({
        metric: row.metric,
        op: String(row.client),
        samples: [row[side]],
        better: row.better,
      }));
    const table = renderMmtests([run('test-run-1', operations('base')), run('test-run-2', operations('new'))], {
      layout: '0.05',
      exact: true,
    });
    // biome-ignore lint/suspicious/noExplicitAny: a row of the vector file
    expect(table.trimEnd().split('\n')).toEqual([...vectors.header_lines, ...vectors.rows.map((row: any) => row.line)]);
  });

  it('reads its five pft lines', () => {
    const operations = parsePftLogs([vectors.pft_lines.join('\n')]);
    expect(operations.find((o) => o.metric === 'Faults/cpu')?.samples).toEqual(
      // biome-ignore lint/suspicious/noExplicitAny: a row of the vector file
      vectors.raw_samples_client1.map((s: any) => s.faults_cpu),
    );
  });

  it("prints today's layout as MMTests does", () => {
    // Samples worked out by hand from the golden table's Min, Max, Amean and Stddev (n = 5).
    const time = (op: string, samples: number[]): Operation => ({ metric: 'time', op, samples, better: 'lower' });
    const table = renderMmtests(
      [
        run('A-base', [time('1', [0.49, 0.5, 0.51, 0.52, 0.53]), time('4', [0.95, 1.0, 1.02, 1.05, 1.1])]),
        run('A-new', [time('1', [0.59, 0.6, 0.6, 0.61, 0.62]), time('4', [0.93, 0.98, 1.0, 1.03, 1.08])]),
      ],
      { layout: 'head', exact: true },
    );
    expect(table.trimEnd()).toBe(vectors.head_format_golden.trimEnd());
  });

  it('derives kswapd velocity and efficiency from the seed run', () => {
    const v = vectors.vmstat;
    const seed = (i: 0 | 1): MmtestsRun => ({
      ...run(`test-run-${i + 1}`, []),
      duration: {
        user: vectors.duration.User[i],
        system: vectors.duration.System[i],
        elapsed: vectors.duration.Elapsed[i],
      },
      vmstat: {
        start: {},
        end: {
          pgpgin: v.page_ins[i],
          pgpgout: v.page_outs[i],
          pgscan_kswapd_normal: v.kswapd_scanned[i],
          pgsteal_kswapd_normal: v.kswapd_reclaimed[i],
          slabs_scanned: v.slabs_scanned[i],
          kswapd_inodesteal: v.kswapd_inode_steals[i],
        },
      },
    });
    expect(reclaimFigures(seed(0))?.kswapdEfficiency).toBeCloseTo(v.kswapd_efficiency_value[0], 10);
    const lines = renderVmstat([seed(0), seed(1)]).split('\n');
    expect(lines).toContain('Kswapd velocity            2861.849       0.000');
    expect(lines).toContain('Kswapd efficiency               99%        100%');
    // As the seed prints it.
    expect(lines).toContain('Kswapd pages scanned         199986           0');
    expect(lines).toContain('Slabs scanned                145408           0');
    expect(renderDuration([seed(0), seed(1)])).toContain('Elapsed                       69.88       61.51');
  });
});

describe('gain', () => {
  it('is −100 % when a throughput falls to zero, where MMTests prints 0.00', () => {
    expect(gain(100, 0, 'higher')).toBe(-100);
  });
  it('has no percentage from zero', () => {
    expect(gain(0, 5, 'higher')).toBeNull();
    expect(gain(0, 0, 'lower')).toBe(0);
  });
  it('is positive when a time falls', () => {
    expect(gain(0.061, 0.06, 'lower')).toBeCloseTo(1.639, 3);
  });
});

describe('significance', () => {
  // Means 10 and 10.5, stddev 0.5164 and n = 10 each: t = 0.5 / (0.5164 √(2/10)) = 2.165, df 18, p = 0.044; the spreads overlap widely.
  const spread = (mean: number, n: number) =>
    Array.from({ length: n }, (_, i) => mean + (i % 2 ? 0.48989795 : -0.48989795));
  const marked = (n: number, exact: boolean) => {
    const time = (samples: number[]): Operation => ({ metric: 'time', op: '1', samples, better: 'lower' });
    const runs = [run('a', [time(spread(10, n))]), run('b', [time(spread(10.5, n))])];
    return /^Amean .*\*/m.test(renderMmtests(runs, { layout: 'head', exact }));
  };
  it('depends on the number of samples, where MMTests’ own never does', () => {
    expect([4, 10, 100].map((n) => marked(n, false))).toEqual([false, true, true]);
    expect([4, 10, 100].map((n) => marked(n, true))).toEqual([false, false, false]);
  });
});

it('keeps wide numbers apart from the label unless asked for the exact layout', () => {
  const wide: Operation = { metric: 'Faults/sec', op: '2', samples: [1028256.2315], better: 'higher' };
  expect(renderMmtests([run('a', [wide])])).toContain('Faults/sec 2 1028256.2315');
  expect(renderMmtests([run('a', [wide])], { exact: true })).toContain('Faults/sec 21028256.2315');
});
