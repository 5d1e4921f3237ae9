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
  for (let i = 0; i < n; i++) {
    const half = df[i]! / 2;
    e[i] = Math.log(ratios[i]!) - digamma(half) + Math.log(half);
    mean += e[i]! / n;
    noise += trigamma(half) / n;
  }
  let spread = 0;
  for (let i = 0; i < n; i++) spread += (e[i]! - mean) ** 2 / (n - 1);
  const excess = spread - noise;
  if (excess <= 0) return { scale: Math.exp(mean), df: most };
  const half = trigammaInverse(excess);
  return { scale: Math.exp(mean + digamma(half) - Math.log(half)), df: Math.min(most, 2 * half) };
}
