/**
 * Evidence of a slow drift of the host, class by class. Within a block (one session on one host) boot t shows
 *
 *   y_t = level + g_t + ε_t,  g_t = g_{t−1} + N(0, λ²σ²),  g_0 = 0,  ε_t ~ N(0, σ²)
 *
 * Both levels (flat) and σ (flat in log σ, or the history's scaled inverse χ²) are integrated out in closed form. With V_λ the
 * covariance of a class's boots over σ², X its two columns "old" and "new", and n boots:
 *
 *   ln E_λ = −½ ln|V| − ½ ln|XᵀV⁻¹X| − ½ (n − 2 + df) ln(RSS + df·sd²)
 *
 * (the usual marginal likelihood of a linear model; Harville 1974). Only its ratio to λ = 0 is used: it multiplies the evidence of
 * levels.ts, which has no drift but shapes of noise. So nothing is subtracted from a boot that may be the step itself.
 */
export interface WalkInput {
  /** Boots in the order they were taken. */
  y: Float64Array;
  kernel: Int32Array;
  kernels: number;
  block: string[];
  /** Standard deviation of a boot with its degrees of freedom (0: unknown). */
  sd: number;
  df: number;
}

export interface WalkEvidence {
  /** What the chance of a drift adds to the log evidence of each class, and of no step. */
  classes: Float64Array;
  none: number;
  /** Per class, log odds of a drift against none; the prior is in it. */
  odds: Float64Array;
}

/** Steps of the walk per boot in σ, equally likely; and the probability before any boot that the host drifts at all. */
const STEPS = [0.1, 0.2, 0.4];
const PRIOR = 0.03;

/** @param isNew one byte per class and kernel (row = class), as for levelEvidence */
export function walkEvidence(input: WalkInput, isNew: Uint8Array): WalkEvidence {
  const classes = isNew.length / input.kernels;
  const still = fit(input, isNew, 0);
  const drifting = STEPS.map((step) => fit(input, isNew, step));
  const odds = new Float64Array(classes);
  const gain = (logE: (f: Fit) => number) => {
    let sum = 0;
    for (const f of drifting) sum += Math.exp(Math.min(600, logE(f) - logE(still))) / STEPS.length;
    return Math.log(sum * (PRIOR / (1 - PRIOR)));
  };
  for (let k = 0; k < classes; k++) odds[k] = gain((f) => f.classes[k]!);
  const added = (o: number) => Math.log1p(Math.exp(o)) + Math.log(1 - PRIOR);
  return { classes: odds.map(added), none: added(gain((f) => f.none)), odds };
}

interface Fit {
  classes: Float64Array;
  none: number;
}

/** ln E of every class and of one common level, for one λ; constants that all λ share are left out. */
function fit(input: WalkInput, isNew: Uint8Array, step: number): Fit {
  const { y, kernels, df } = input;
  const n = y.length;
  const { columns, own, logDet } = whiten(input, step);
  // M = XᵀV⁻¹X, v = XᵀV⁻¹y with one column of X per kernel
  const M = new Float64Array(kernels * kernels);
  const v = new Float64Array(kernels);
  let yy = 0;
  for (let t = 0; t < n; t++) {
    const row = columns.subarray(t * kernels, (t + 1) * kernels);
    yy += own[t]! * own[t]!;
    for (let i = 0; i < kernels; i++) {
      const x = row[i]!;
      if (x === 0) continue;
      v[i]! += x * own[t]!;
      for (let j = 0; j <= i; j++) M[i * kernels + j]! += x * row[j]!;
    }
  }
  const all = new Float64Array(kernels);
  let total = 0;
  let sum = 0;
  for (let i = 0; i < kernels; i++) {
    for (let j = 0; j < i; j++) M[j * kernels + i] = M[i * kernels + j]!;
    sum += v[i]!;
  }
  for (let i = 0; i < kernels; i++) {
    for (let j = 0; j < kernels; j++) all[i]! += M[i * kernels + j]!;
    total += all[i]!;
  }
  const known = df * input.sd ** 2;
  const least = 1e-12 * yy + Number.MIN_VALUE;
  const marginal = (det: number, rss: number, levels: number) =>
    -0.5 * logDet - 0.5 * Math.log(det) - 0.5 * (n - levels + df) * Math.log(Math.max(rss, least) + known);

  const count = isNew.length / kernels;
  const classes = new Float64Array(count);
  const current = new Uint8Array(kernels);
  // Σ M over new × new, over new × all, per kernel over new, and Σ v over new
  let nn = 0;
  let na = 0;
  const toNew = new Float64Array(kernels);
  let b = 0;
  for (let k = 0; k < count; k++) {
    for (let t = 0; t < kernels; t++) {
      const wanted = isNew[k * kernels + t]!;
      if (wanted === current[t]) continue;
      current[t] = wanted;
      const self = M[t * kernels + t]!;
      const sign = wanted === 1 ? 1 : -1;
      nn += sign * 2 * toNew[t]! + self;
      na += sign * all[t]!;
      b += sign * v[t]!;
      for (let j = 0; j < kernels; j++) toNew[j]! += sign * M[j * kernels + t]!;
    }
    const on = na - nn;
    const oo = total - 2 * on - nn;
    const a = sum - b;
    const det = oo * nn - on * on;
    const explained = (a * a * nn - 2 * a * b * on + b * b * oo) / det;
    classes[k] = marginal(det, yy - explained, 2);
  }
  return { classes, none: marginal(total, yy - (sum * sum) / total, 1) };
}

/** Innovations of the walk's Kalman filter: rows of L⁻¹X (one column per kernel) and of L⁻¹y, with V = L·Lᵀ; ln|V|. */
function whiten(input: WalkInput, step: number) {
  const { y, kernel, kernels, block } = input;
  const n = y.length;
  const columns = new Float64Array(n * kernels);
  const own = new Float64Array(n);
  const chains = new Map<string, { variance: number; mean: number; means: Float64Array }>();
  let logDet = 0;
  let centre = 0;
  for (const value of y) centre += value / n;
  for (let t = 0; t < n; t++) {
    const chain = chains.get(block[t]!) ?? { variance: 0, mean: 0, means: new Float64Array(kernels) };
    chains.set(block[t]!, chain);
    const total = chain.variance + 1;
    const gain = chain.variance / total;
    const scale = 1 / Math.sqrt(total);
    logDet += Math.log(total);
    const e = y[t]! - centre - chain.mean;
    own[t] = e * scale;
    chain.mean += gain * e;
    for (let i = 0; i < kernels; i++) {
      const x = (kernel[t] === i ? 1 : 0) - chain.means[i]!;
      columns[t * kernels + i] = x * scale;
      chain.means[i]! += gain * x;
    }
    chain.variance = chain.variance * (1 - gain) + step * step;
  }
  return { columns, own, logDet };
}
