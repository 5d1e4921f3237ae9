import { digamma, trigamma, trigammaInverse } from './student.ts';

/** A scaled inverse χ² prior of relative variances: `scale` · d0/χ²(d0). */
export interface VariancePrior {
  scale: number;
  /** Degrees of freedom that the prior is worth; 0 = worth nothing. */
  df: number;
}

/**
 * Fits s²/reference ~ scale · F(d, d0) across metrics by the moments of log s² (Smyth 2004, section 6.2):
 *
 *   e = log(s²/ref) − ψ(d/2) + log(d/2);  ψ′(d0/2) = var(e) − mean ψ′(d/2);
 *   scale = exp(mean e + ψ(d0/2) − log(d0/2)).
 *
 * @param ratios s²/reference per metric, > 0
 * @param df degrees of freedom of each s²
 * @returns df = `most` when the ratios scatter no more than χ² itself would
 */
export function fitVariancePrior(ratios: ArrayLike<number>, df: ArrayLike<number>, most = 1e6): VariancePrior {
  const n = ratios.length;
  if (n < 3) return { scale: 1, df: 0 };
  let mean = 0;
  let noise = 0;
  const e = new Float64Array(n);
  // Most metrics have as many degrees of freedom as the one before.
  let half = Number.NaN;
  let psi = 0;
  let log = 0;
  let share = 0;
  for (let i = 0; i < n; i++) {
    if (df[i]! / 2 !== half) {
      half = df[i]! / 2;
      psi = digamma(half);
      log = Math.log(half);
      share = trigamma(half) / n;
    }
    e[i] = Math.log(ratios[i]!) - psi + log;
    mean += e[i]! / n;
    noise += share;
  }
  let spread = 0;
  for (let i = 0; i < n; i++) spread += (e[i]! - mean) ** 2 / (n - 1);
  const excess = spread - noise;
  if (excess <= 0) return { scale: Math.exp(mean), df: most };
  const fitted = trigammaInverse(excess);
  return { scale: Math.exp(mean + digamma(fitted) - Math.log(fitted)), df: Math.min(most, 2 * fitted) };
}
