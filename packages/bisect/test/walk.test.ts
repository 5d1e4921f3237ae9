import { describe, expect, test } from 'vitest';
import { walkEvidence } from '../src/walk.ts';

/** 14 boots: good, bad, and two kernels between, in two sessions. */
const y = Float64Array.from([10.1, 12.2, 9.8, 11.9, 10.4, 12.6, 10.9, 13.1, 11.2, 13.0, 9.9, 12.1, 10.2, 12.3]);
const kernel = Int32Array.from([0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 2, 3, 0, 1]);
const block = Array.from(y, (_, i) => (i < 10 ? 'monday' : 'tuesday'));
const input = { y, kernel, kernels: 4, block, sd: 0.3, df: 4 };
/** Classes: kernel 2 old and 3 new; both new; both old. */
const isNew = Uint8Array.from([0, 1, 0, 1, 0, 1, 1, 1, 0, 1, 0, 0]);

/** ln E by the formula, with V written out: V_st = [s = t] + λ²·min(s, t) within a session, s and t from its first boot. */
function direct(step: number, columns: number[][]): number {
  const n = y.length;
  const first = block.map((b) => block.indexOf(b));
  const V = block.map((b, s) =>
    block.map((c, t) => (s === t ? 1 : 0) + (b === c ? step * step * Math.min(s - first[s]!, t - first[t]!) : 0)),
  );
  const X = columns;
  const inverseTimes = (v: number[]) => solve(V, v);
  const ViX = X.map(inverseTimes);
  const A = X.map((a) => ViX.map((b) => dot(a, b)));
  const Viy = inverseTimes([...y]);
  const beta = solve(
    A,
    X.map((a) => dot(a, Viy)),
  );
  const residual = [...y].map((v, i) => v - X.reduce((sum, x, k) => sum + x[i]! * beta[k]!, 0));
  const rss = dot(residual, inverseTimes(residual));
  return (
    -0.5 * logDet(V) -
    0.5 * logDet(A) -
    0.5 * (n - X.length + input.df) * Math.log(rss + input.df * input.sd * input.sd)
  );
}

const dot = (a: number[], b: number[]) => a.reduce((sum, v, i) => sum + v * b[i]!, 0);

/** Gaussian elimination of [M | v]; M is positive definite and needs no pivots. */
function eliminate(M: number[][], v: number[]) {
  const m = M.map((row, i) => [...row, v[i]!]);
  for (let i = 0; i < m.length; i++)
    for (let r = i + 1; r < m.length; r++) {
      const factor = m[r]![i]! / m[i]![i]!;
      for (let c = i; c <= m.length; c++) m[r]![c]! -= factor * m[i]![c]!;
    }
  return m;
}

function solve(M: number[][], v: number[]): number[] {
  const m = eliminate(M, v);
  const x = new Array<number>(v.length).fill(0);
  for (let i = v.length - 1; i >= 0; i--)
    x[i] = (m[i]![v.length]! - x.reduce((sum, w, c) => (c > i ? sum + m[i]![c]! * w : sum), 0)) / m[i]![i]!;
  return x;
}

const logDet = (M: number[][]) =>
  eliminate(
    M,
    M.map(() => 0),
  ).reduce((sum, row, i) => sum + Math.log(row[i]!), 0);

describe('the evidence of a drift', () => {
  const steps = [0.1, 0.2, 0.4];
  const odds = (columns: number[][]) => {
    const still = direct(0, columns);
    const mean = steps.reduce((sum, step) => sum + Math.exp(direct(step, columns) - still), 0) / steps.length;
    return Math.log((0.03 / 0.97) * mean);
  };
  const found = walkEvidence(input, isNew);

  test('is that of the linear model with its covariance written out, class by class', () => {
    for (let k = 0; k < 3; k++) {
      const fresh = [...kernel].map((t) => isNew[k * 4 + t]!);
      const expected = odds([fresh.map((v) => 1 - v), fresh]);
      expect(found.odds[k]).toBeCloseTo(expected, 8);
      expect(found.classes[k]).toBeCloseTo(Math.log(0.97 * (1 + Math.exp(expected))), 8);
    }
  });

  test('and for no step', () => {
    const expected = odds([[...kernel].map(() => 1)]);
    expect(found.none).toBeCloseTo(Math.log(0.97 * (1 + Math.exp(expected))), 8);
  });

  test('does not depend on the order of the classes', () => {
    const turned = walkEvidence(input, Uint8Array.from([...isNew.slice(8), ...isNew.slice(0, 8)]));
    expect(turned.odds[0]).toBeCloseTo(found.odds[2]!, 9);
    expect(turned.odds[2]).toBeCloseTo(found.odds[1]!, 9);
  });

  test('is for a drift where boots of one kernel wander, and against it where they do not', () => {
    const n = 60;
    const still = (i: number) => Math.sin(12.9898 * (i + 1) * (i + 1));
    const of = (values: (i: number) => number) =>
      walkEvidence(
        {
          ...input,
          df: 0,
          kernels: 2,
          y: Float64Array.from({ length: n }, (_, i) => values(i) + 3 * (i % 2)),
          kernel: Int32Array.from({ length: n }, (_, i) => i % 2),
          block: new Array(n).fill(''),
        },
        Uint8Array.from([0, 1]),
      ).odds[0]!;
    expect(of(still)).toBeLessThan(Math.log(0.03));
    expect(of((i) => still(i) + 4 * Math.sin(i / 12))).toBeGreaterThan(Math.log(1000));
  });
});
