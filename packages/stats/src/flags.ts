import type { Modes } from './modes.ts';
import type { Moments } from './moments.ts';
import type { Noise } from './noise.ts';
import { tTwoSided } from './student.ts';
import type { Flag, MetricRow } from './types.ts';

interface Known {
  base: Moments;
  head: Moments;
  difference: number;
  history: Noise | null;
  modes: Modes | null;
  variance: number;
  df: number;
  p: number | null;
}

/** Scatter beyond history that chance makes once in so many metrics is called unstable. */
const UNSTABLE_P = 1e-4;
const DRIFT_P = 0.01;

/**
 * The flags of one metric of a pair, in a fixed order.
 *
 * @param rate the family's rate: a difference between modes that Fisher's table proves at it is a change for all that
 * @param order when each boot ran, base then head
 */
export function flagsOf(row: MetricRow, known: Known, rate: number, order: { base: number[]; head: number[] }): Flag[] {
  const flags: Flag[] = [];
  const { base, head, modes } = known;
  if (base.n === 0) flags.push('new');
  else if (head.n === 0) flags.push('gone');
  else if (base.mean === 0 && head.mean !== 0) flags.push('new');
  if (modes?.separated && modes.explains) {
    const proved = modes.p <= rate;
    if (proved && modes.strays === 1) flags.push('wild-boot');
    // Two values of a coarse scale are no modes unless the difference hangs on them.
    else if (modes.telling) flags.push('bimodal');
  }
  if (isUnstable(known)) flags.push('unstable');
  if (known.p !== null && known.p < 0.05 && isDrift(row, order)) flags.push('drift');
  if (row.info.environment && environmentChanged(base, head)) flags.push('environment');
  if (!known.history) flags.push('no-history');
  if (base.n + head.n < 3 && !known.history) flags.push('few-boots');
  return flags;
}

/** A metric that must not change: any CPU, microcode or version counts; memory only beyond a kernel's own size. */
export function environmentChanged(base: Moments, head: Moments): boolean {
  if (base.n === 0 || head.n === 0) return false;
  return Math.abs(head.mean - base.mean) > 0.01 * Math.max(Math.abs(base.mean), Math.abs(head.mean));
}

// Own variance over history's, both estimated: F(d, d_h) by way of its log, which is near normal (Fisher's z).
function isUnstable(known: Known): boolean {
  const { history, variance, df } = known;
  if (!history || history.relVariance <= 0 || df < 2 || history.df < 4) return false;
  const z = Math.log(variance / history.relVariance) / 2;
  if (z <= 0) return false;
  const error = Math.sqrt((1 / df + 1 / history.df) / 2);
  return tTwoSided(z / error, Math.min(df, history.df)) < UNSTABLE_P;
}

/**
 * The order of boots explains the difference: within the kernels the metric moves with time (p < 0.01), in the
 * direction of the difference, and with that slope taken out less than half of the difference is left.
 */
function isDrift(row: MetricRow, order: { base: number[]; head: number[] }): boolean {
  const b = centreOf(row.base, order.base);
  const h = centreOf(row.head, order.head);
  if (b.n < 3 || h.n < 3) return false;
  let tt = 0;
  let tv = 0;
  let vv = 0;
  for (const centre of [b, h]) {
    const values = centre === b ? row.base : row.head;
    const times = centre === b ? order.base : order.head;
    for (let i = 0; i < values.length; i++) {
      const value = values[i]!;
      if (value === null) continue;
      const time = times[i]! - centre.time;
      tt += time * time;
      tv += time * (value - centre.value);
      vv += (value - centre.value) * (value - centre.value);
    }
  }
  const df = b.n + h.n - 3;
  if (tt <= 0 || vv <= 0 || df < 2) return false;
  const slope = tv / tt;
  const rest = Math.max(0, vv - slope * tv);
  const t = slope / Math.sqrt(rest / df / tt);
  if (tTwoSided(t, df) >= DRIFT_P) return false;
  const difference = h.value - b.value;
  const explained = slope * (h.time - b.time);
  return explained * difference > 0 && Math.abs(difference - explained) < Math.abs(difference) / 2;
}

/** How many boots of a kernel have a value, their mean time and mean value. */
function centreOf(values: readonly (number | null)[], times: number[]): { n: number; time: number; value: number } {
  let n = 0;
  let time = 0;
  let sum = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (value === null) continue;
    n++;
    time += times[i]!;
    sum += value;
  }
  return { n, time: time / n, value: sum / n };
}
