import type { Matrix } from '@kdelta/matrix';
import { benjaminiHochberg, tTwoSided } from '@kdelta/stats';

/** A rule of another system: the names of the metrics that it reports for a pair. */
export type Rule = (base: Matrix, head: Matrix) => string[];

type Row = { metric: string; a: number[]; b: number[] };

/** LKP's default: the ranges clear each other's median, and the medians differ by more than 5 %. */
export const lkpDefault: Rule = (base, head) =>
  rowsOf(base, head)
    .filter(({ a, b }) => {
      const [ma, mb] = [upperMedian(a), upperMedian(b)];
      const up = Math.min(...b) > ma && mb > Math.max(...a);
      const down = Math.max(...b) < ma && mb < Math.min(...a);
      return (up || down) && ratioAbove(ma, mb, 1.05);
    })
    .map(({ metric }) => metric);

/** LKP's strict rule: the ranges are apart by more than half of the medians' difference. */
export const lkpStrict: Rule = (base, head) =>
  rowsOf(base, head)
    .filter(({ a, b }) => {
      const [ma, mb] = [upperMedian(a), upperMedian(b)];
      const gap = Math.max(Math.min(...a) - Math.max(...b), Math.min(...b) - Math.max(...a));
      return gap > Math.abs(ma - mb) / 2 && ratioAbove(ma, mb, 1.05);
    })
    .map(({ metric }) => metric);

export const welch: Rule = (base, head) =>
  rowsOf(base, head)
    .filter(({ a, b }) => welchP(a, b) < 0.05 && ratioAbove(meanOf(a), meanOf(b), 1.05))
    .map(({ metric }) => metric);

export const welchBh: Rule = (base, head) => {
  const rows = rowsOf(base, head).filter(({ a, b }) => new Set([...a, ...b]).size > 1);
  const { q } = benjaminiHochberg(
    rows.map(({ a, b }) => welchP(a, b)),
    0.05,
  );
  return rows.filter(({ a, b }, i) => q[i]! <= 0.05 && ratioAbove(meanOf(a), meanOf(b), 1.05)).map((r) => r.metric);
};

function rowsOf(base: Matrix, head: Matrix): Row[] {
  const rows: Row[] = [];
  for (const [metric, values] of base.metrics) {
    const other = head.metrics.get(metric);
    if (!other) continue;
    const a = values.filter((value) => value !== null);
    const b = other.filter((value) => value !== null);
    if (a.length > 1 && b.length > 1) rows.push({ metric, a, b });
  }
  return rows;
}

function upperMedian(values: number[]): number {
  return [...values].sort((x, y) => x - y)[Math.floor(values.length / 2)]!;
}

function meanOf(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function ratioAbove(a: number, b: number, ratio: number): boolean {
  return Math.max(Math.abs(a), Math.abs(b)) > ratio * Math.min(Math.abs(a), Math.abs(b));
}

function welchP(a: number[], b: number[]): number {
  const variance = (values: number[], mean: number) =>
    values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1) / values.length;
  const [ma, mb] = [meanOf(a), meanOf(b)];
  const [va, vb] = [variance(a, ma), variance(b, mb)];
  if (va + vb === 0) return ma === mb ? 1 : 0;
  const df = (va + vb) ** 2 / (va ** 2 / (a.length - 1) + vb ** 2 / (b.length - 1));
  return tTwoSided((mb - ma) / Math.sqrt(va + vb), df);
}
