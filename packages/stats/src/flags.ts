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
  const points: { time: number; value: number; kernel: number }[] = [];
  row.base.forEach((value, i) => {
    if (value !== null) points.push({ time: order.base[i]!, value, kernel: 0 });
  });
  row.head.forEach((value, i) => {
    if (value !== null) points.push({ time: order.head[i]!, value, kernel: 1 });
  });
  const kernels = [points.filter((p) => p.kernel === 0), points.filter((p) => p.kernel === 1)];
  if (kernels.some((kernel) => kernel.length < 3)) return false;
  const [b, h] = kernels.map((kernel) => ({
    time: kernel.reduce((sum, p) => sum + p.time, 0) / kernel.length,
    value: kernel.reduce((sum, p) => sum + p.value, 0) / kernel.length,
  })) as [{ time: number; value: number }, { time: number; value: number }];
  let tt = 0;
  let tv = 0;
  let vv = 0;
  for (const point of points) {
    const centre = point.kernel === 0 ? b : h;
    tt += (point.time - centre.time) ** 2;
    tv += (point.time - centre.time) * (point.value - centre.value);
    vv += (point.value - centre.value) ** 2;
  }
  const df = points.length - 3;
  if (tt <= 0 || vv <= 0 || df < 2) return false;
  const slope = tv / tt;
  const rest = Math.max(0, vv - slope * tv);
  const t = slope / Math.sqrt(rest / df / tt);
  if (tTwoSided(t, df) >= DRIFT_P) return false;
  const difference = h.value - b.value;
  const explained = slope * (h.time - b.time);
  return explained * difference > 0 && Math.abs(difference - explained) < Math.abs(difference) / 2;
}
