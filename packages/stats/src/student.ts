import jstat from 'jstat';

const { jStat } = jstat;
const NORMAL_DF = 1e6;
const quantiles = new Map<number, Map<number, number>>();
let kept = 0;

/** Two-sided p of Student's t: P(|T| ≥ |t|) with `df` degrees of freedom (may be fractional or infinite). */
export function tTwoSided(t: number, df: number): number {
  if (Number.isNaN(t)) return 1;
  if (!Number.isFinite(t)) return 0;
  const f = Math.min(df, NORMAL_DF);
  return betaHalf(f / (f + t * t), f / 2);
}

const leads = new Map<number, number>();

/**
 * The regularised incomplete beta function I_x(a, ½) by jstat's continued fraction (Press et al., Numerical Recipes,
 * 6.4). The factor 1/B(a, ½) before it takes three log-gammas and is kept by a: most metrics of a pair share it.
 */
function betaHalf(x: number, a: number): number {
  if (!(x > 0 && x < 1)) return jStat.ibeta(x, a, 0.5);
  let lead = leads.get(a);
  if (lead === undefined) {
    if (leads.size > 10_000) leads.clear();
    lead = jStat.gammaln(a + 0.5) - jStat.gammaln(a) - jStat.gammaln(0.5);
    leads.set(a, lead);
  }
  const factor = Math.exp(lead + a * Math.log(x) + 0.5 * Math.log(1 - x));
  if (x < (a + 1) / (a + 0.5 + 2)) return (factor * jStat.betacf(x, a, 0.5)) / a;
  return 1 - (factor * jStat.betacf(1 - x, 0.5, a)) / 0.5;
}

/** The t that leaves `p` (0 < p < 1) above it in both tails together. Cached: most metrics of a pair share df. */
export function tCritical(p: number, df: number): number {
  const f = Math.min(df, NORMAL_DF);
  let ofDf = quantiles.get(f);
  const known = ofDf?.get(p);
  if (known !== undefined) return known;
  const value = solveCritical(p, f);
  if (kept++ > 50_000) {
    quantiles.clear();
    ofDf = undefined;
    kept = 0;
  }
  if (!ofDf) {
    ofDf = new Map();
    quantiles.set(f, ofDf);
  }
  ofDf.set(p, value);
  return value;
}

/** Upper one-sided quantile: P(T > t) = p, for p < 0.5. */
export function tUpper(p: number, df: number): number {
  return tCritical(2 * p, df);
}

// Bisection on log t: exact to the last digits also at p = 1e-7 with few degrees of freedom, where series drift.
function solveCritical(p: number, df: number): number {
  if (p >= 1) return 0;
  let low = 1e-9;
  let high = 1;
  while (tTwoSided(high, df) > p && high < 1e12) high *= 4;
  for (let i = 0; i < 100 && high / low > 1 + 1e-12; i++) {
    const middle = Math.sqrt(low * high);
    if (tTwoSided(middle, df) > p) low = middle;
    else high = middle;
  }
  return Math.sqrt(low * high);
}

/** ψ(x), x > 0: recurrence up to 6, then the asymptotic series (Abramowitz & Stegun 6.3.18). */
export function digamma(x: number): number {
  let value = 0;
  let z = x;
  while (z < 8) {
    value -= 1 / z;
    z += 1;
  }
  const w = 1 / (z * z);
  return value + Math.log(z) - 0.5 / z - w * (1 / 12 - w * (1 / 120 - w * (1 / 252 - w * (1 / 240 - w / 132))));
}

/** ψ′(x), x > 0 (Abramowitz & Stegun 6.4.12). */
export function trigamma(x: number): number {
  let value = 0;
  let z = x;
  while (z < 8) {
    value += 1 / (z * z);
    z += 1;
  }
  const w = 1 / (z * z);
  return value + 1 / z + w / 2 + (w / z) * (1 / 6 - w * (1 / 30 - w * (1 / 42 - w / 30)));
}

/** x with ψ′(x) = y, y > 0: Newton on 1/ψ′ (Smyth 2004, appendix). */
export function trigammaInverse(y: number): number {
  if (y > 1e7) return 1 / Math.sqrt(y);
  if (y < 1e-6) return 1 / y;
  let x = 0.5 + 1 / y;
  for (let i = 0; i < 50; i++) {
    const tri = trigamma(x);
    const step = (tri * (1 - tri / y)) / tetragamma(x);
    x += step;
    if (-step / x < 1e-8) break;
  }
  return x;
}

function tetragamma(x: number): number {
  let value = 0;
  let z = x;
  while (z < 8) {
    value -= 2 / (z * z * z);
    z += 1;
  }
  const w = 1 / (z * z);
  return value - w - w / z - w * w * (0.5 - w * (1 / 6 - w * (1 / 6 - w * 0.3)));
}

/** Φ⁻¹(p). */
export function normalQuantile(p: number): number {
  return jStat.normal.inv(p, 0, 1);
}

export function logGamma(x: number): number {
  return jStat.gammaln(x);
}
