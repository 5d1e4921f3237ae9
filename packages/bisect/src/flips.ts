import { logGamma, logSum } from './levels.ts';

/**
 * Evidence of binary outcomes per class: unknown shares of bad runs before and after the step, both integrated out.
 * Each share has a mixture of Beta priors: one for tests that hardly ever lie, one for flaky ones.
 */
const OLD_SHARE: [weight: number, a: number, b: number][] = [
  [0.6, 0.5, 100],
  [0.4, 1, 4],
];
const NEW_SHARE: [weight: number, a: number, b: number][] = [
  [0.6, 100, 0.5],
  [0.4, 1, 1],
];

export interface FlipData {
  /** Per kernel: runs and how many of them were bad. */
  runs: Float64Array;
  bad: Float64Array;
}

export interface FlipEvidence {
  classes: Float64Array;
  none: number;
  /** Posterior mean shares of bad runs, averaged over the classes. */
  old: number;
  new: number;
  variance0: number;
  variance1: number;
}

/** @param isNew one byte per class and kernel: 1 when the kernel is new for the class's candidates */
export function flipEvidence(data: FlipData, isNew: Uint8Array, weight: ArrayLike<number>): FlipEvidence {
  const kernels = data.runs.length;
  const classes = isNew.length / kernels;
  const evidence = new Float64Array(classes);
  const counts = new Float64Array(classes * 4);
  for (let k = 0; k < classes; k++) {
    const c = counts.subarray(k * 4, k * 4 + 4);
    for (let t = 0; t < kernels; t++) {
      const side = isNew[k * kernels + t] === 1 ? 2 : 0;
      c[side]! += data.bad[t]!;
      c[side + 1]! += data.runs[t]! - data.bad[t]!;
    }
    evidence[k] = betaMixture(OLD_SHARE, c[0]!, c[1]!) + betaMixture(NEW_SHARE, c[2]!, c[3]!);
  }
  const top = evidence.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  let total = 0;
  const mean = [0, 0, 0, 0];
  for (let k = 0; k < classes; k++) {
    const w = weight[k]! * Math.exp(evidence[k]! - top);
    if (w === 0) continue;
    total += w;
    for (let side = 0; side < 2; side++) {
      const x = counts[k * 4 + side * 2]!;
      const n = x + counts[k * 4 + side * 2 + 1]!;
      const p = (x + 0.5) / (n + 1);
      mean[side]! += w * p;
      mean[side + 2]! += (w * p * (1 - p)) / (n + 2);
    }
  }
  let bad = 0;
  let fine = 0;
  for (let t = 0; t < kernels; t++) {
    bad += data.bad[t]!;
    fine += data.runs[t]! - data.bad[t]!;
  }
  const none = logSum([betaMixture(OLD_SHARE, bad, fine), betaMixture(NEW_SHARE, bad, fine)]) - Math.LN2;
  return {
    classes: evidence,
    none,
    old: mean[0]! / total,
    new: mean[1]! / total,
    variance0: mean[2]! / total,
    variance1: mean[3]! / total,
  };
}

/** Log of Σ w · B(x + a, y + b) / B(a, b). */
function betaMixture(parts: [number, number, number][], x: number, y: number): number {
  return logSum(parts.map(([w, a, b]) => Math.log(w) + logBeta(x + a, y + b) - logBeta(a, b)));
}

function logBeta(a: number, b: number): number {
  return logGamma(a) + logGamma(b) - logGamma(a + b);
}
