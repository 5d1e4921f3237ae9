import { deflateRawSync } from 'node:zlib';
import type { Judgement } from '@kdelta/stats';
import { expect, test } from 'vitest';
import { packJudgement, unpackJudgement, unpackJudgementHead } from '../src/index.ts';

const side = (values: (number | null)[], fails?: number) => ({
  n: values.length,
  mean: 1.25,
  stddev: null,
  values,
  ...(fails === undefined ? {} : { fails }),
});
const delta = (i: number, more: object = {}) => ({
  metric: `proc-vmstat.m${i}`,
  kpi: false,
  kind: 'performance',
  family: 'evidence',
  percent: false,
  base: side([i, null, 0.1]),
  head: side([i + 1, 2, 1e-300]),
  changeAbs: 1,
  changePct: i / 3,
  ci95Pct: [-1, 2.5],
  p: null,
  q: 0.2,
  detectablePct: null,
  verdict: 'inconclusive',
  flags: [],
  weight: 0,
  ...more,
});
const judgement = {
  verdict: 'regression',
  line: 'regression: dbench "<b>"',
  deltas: [
    delta(0, {
      metric: 'dbench.x',
      kpi: true,
      unit: 'MB/s',
      better: 'higher',
      verdict: 'regression',
      flags: ['drift'],
    }),
    delta(1, { base: side([0, 1], 1), head: side([1, 1], 2), verdict: 'changed', unit: undefined }),
    ...Array.from({ length: 500 }, (_, i) => delta(i + 2)),
  ],
} as unknown as Judgement;

test('a judgement comes back as it was, and its first part with what a page shows', () => {
  const packed = packJudgement(judgement);
  const whole = JSON.parse(JSON.stringify(judgement));
  expect(unpackJudgement(packed)).toEqual(whole);
  const head = unpackJudgementHead(packed);
  expect(head.deltas).toEqual(whole.deltas.slice(0, 202));
  expect(head).toMatchObject({
    line: judgement.line,
    total: 502,
    counts: { regression: 1, changed: 1, inconclusive: 500 },
    programs: { dbench: 1, 'proc-vmstat': 501 },
  });
});

test('one that was packed with keys, as before, is read all the same', () => {
  const { deltas, ...rest } = JSON.parse(JSON.stringify(judgement));
  const head = { ...rest, deltas: deltas.slice(0, 202), total: 502, counts: {}, programs: {} };
  const first = deflateRawSync(JSON.stringify(head));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(first.length);
  const packed = Buffer.concat([Buffer.from('KDJ1'), length, first, deflateRawSync(JSON.stringify(deltas.slice(202)))]);
  expect(unpackJudgementHead(packed)).toEqual(head);
  expect(unpackJudgement(packed)).toEqual({ ...rest, deltas });
});

test('something else is refused by a code', () => {
  expect(() => unpackJudgement(Buffer.from('KDJ9 and more'))).toThrow('KD_JUDGEMENT_UNREADABLE');
});
