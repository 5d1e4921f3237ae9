import { readFileSync } from 'node:fs';
import { buildRegistry, matrixFromObject } from '@kdelta/matrix';
import { describe, expect, it } from 'vitest';
import { isReported, type JudgeInput, judge } from '../src/index.ts';

const inputs = JSON.parse(readFileSync(new URL('lkp-inputs.json', import.meta.url), 'utf8'));
const registry = buildRegistry();

function one(metric: string, base: unknown[], head: unknown[], more: Partial<JudgeInput> = {}) {
  const sides = { base: matrixFromObject({ [metric]: base }), head: matrixFromObject({ [metric]: head }) };
  return judge({ ...sides, registry, ...more }).deltas[0]!;
}

/** Boots with exactly this mean that scatter by half a percent. */
const around = (mean: number, n: number) => Array.from({ length: n }, (_, i) => mean * (1 + 0.003 * (i - (n - 1) / 2)));

describe('the inputs of lkp-inputs.json', () => {
  const { fxmark, fork, noFailures, pageout, synthetic } = inputs;

  it('1: fxmark rises by 6.8 %, and falls by 6.4 % the other way round', () => {
    const up = one(fxmark.metric, fxmark.slow, fxmark.fast);
    expect([Math.trunc(up.base.mean!), Math.trunc(up.head.mean!)]).toEqual([
      fxmark.expect.slowMean,
      fxmark.expect.fastMean,
    ]);
    expect([up.verdict, up.changePct!.toFixed(1)]).toEqual(['improvement', fxmark.expect.upPct]);
    const down = one(fxmark.metric, fxmark.fast, fxmark.slow);
    expect([down.verdict, down.changePct!.toFixed(1)]).toEqual(['regression', fxmark.expect.downPct]);
  });

  // Its spreads differ 2.6-fold: pooled they would say p = 0.015, Welch's test says 0.024, above a KPI's 2 %.
  it('2: fxmark 1.4 % lower, within its scatter, is not reported', () => {
    const delta = one(fxmark.metric, fxmark.small, fxmark.slow);
    expect(delta.changePct!.toFixed(1)).toBe(fxmark.expect.smallPct);
    expect(isReported(delta)).toBe(false);
  });

  it.each(fork.rows as { metric: string; base: number; head: number; change: string }[])(
    '3: $metric changes by $change',
    ({ metric, base, head, change }) => {
      const delta = one(metric, around(base, 6), around(head, 6));
      const percent = change.endsWith('%');
      expect(delta.percent).toBe(!percent);
      expect((percent ? delta.changePct! : delta.changeAbs!).toFixed(1)).toBe(change.replace(/[+%]/g, ''));
      expect(isReported(delta)).toBe(true);
    },
  );

  it.each(noFailures.rows as { metric: string; base: number[]; head: number[] }[])(
    '4: $metric is no failure',
    ({ metric, base, head }) => {
      const delta = one(metric, base, head);
      expect(delta.family).not.toBe('function');
      expect(delta.base.fails).toBeUndefined();
      expect(delta.verdict).toBe('inconclusive');
    },
  );

  it.each(pageout.rows as { base: number; head: number; ratio: string }[])(
    '6: ns per page from $base to $head is a regression of $ratio times',
    ({ base, head, ratio }) => {
      const lower = buildRegistry([{ name: 'pageout', metrics: { ns_per_page: { better: 'lower', kpi: true } } }]);
      const order = { base: [0, 3, 4, 7, 8, 11, 12, 15, 16], head: [1, 2, 5, 6, 9, 10, 13, 14, 17] };
      const delta = one('pageout.ns_per_page', around(base, 9), around(head, 9), { registry: lower, order });
      expect(delta.verdict).toBe('regression');
      expect((1 + delta.changePct! / 100).toFixed(2)).toBe(ratio);
    },
  );

  it('7, 9: a metric that no boot of head has is gone, and neither 0 nor a verdict', () => {
    const kpi = 'will-it-scale.per_process_ops';
    const judgement = judge({
      base: matrixFromObject({ [kpi]: [5, 6, 7], a: [1, 2, 3] }),
      head: matrixFromObject({ [kpi]: [null, null, null], a: [1, 2, 3] }),
      registry,
    });
    const delta = judgement.deltas.find((d) => d.metric === kpi)!;
    expect(delta).toMatchObject({ verdict: 'inconclusive', changePct: null, head: { n: 0, mean: null } });
    expect(delta.flags).toContain('gone');
    expect(judgement.verdict).toBe('inconclusive');
  });

  it.each(synthetic.nulls as [number[], number[]][])(
    'three boots in disjoint ranges of the same noise are not reported: %j, %j',
    (base, head) => {
      expect(isReported(one('m.x', base, head))).toBe(false);
      expect(isReported(one(fxmark.metric, base, head))).toBe(false);
    },
  );

  it('one wild boot vetoes no change of a KPI', () => {
    const delta = one(fxmark.metric, synthetic.outlier.base, synthetic.outlier.head);
    expect(delta.verdict).toBe('regression');
    expect(delta.flags).toContain('wild-boot');
  });

  it('boots without a value are missing, not 0', () => {
    const delta = one('m.x', synthetic.missing.base, synthetic.missing.head);
    // 49 / (151 / 3) − 1
    expect(delta.changePct).toBeCloseTo(-2.649, 3);
    expect(delta.head).toMatchObject({ n: 1, mean: 49 });
    expect(isReported(delta)).toBe(false);
  });

  it('0 of 3 failures against 2 of 6 are 33 points, and prove nothing', () => {
    const { base, head, p, points } = synthetic.fails;
    const input = (row: number[]) => matrixFromObject({ 'x.fail': row });
    const delta = judge({ base: input([...base]), head: input(head), registry }).deltas[0]!;
    expect(delta.p).toBeCloseTo(p, 9);
    expect([Math.round(delta.changePct!), delta.verdict]).toEqual([points, 'inconclusive']);
    expect([delta.base.fails, delta.base.n, delta.head.fails, delta.head.n]).toEqual([0, 3, 2, 6]);
  });
});
