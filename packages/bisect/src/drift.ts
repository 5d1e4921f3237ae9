/**
 * Slow drift of a host, and level shifts between sessions or hosts, taken out of the boots before their evidence is
 * weighed. Per block (one session on one host) the offset is a random walk: g_t = g_{t−1} + N(0, λ²σ²), and
 * y_t − E[level] = g_t + noise. Each boot is corrected by the offset that the *other* boots of its block give
 * (forward and backward Kalman predictions), so that no boot explains itself away.
 */
export interface DriftInput {
  /** Boots in the order they were taken: distance from the expected level, and the variance of that distance. */
  residual: Float64Array;
  variance: Float64Array;
  block: string[];
  sigma: number;
}

export interface Drift {
  offset: Float64Array;
  /** Whether a drift within a block explains the boots better than none, and clearly so. */
  found: boolean;
  clear: boolean;
}

/** Steps of the walk per boot, in σ. */
const STEPS = [0.05, 0.1, 0.2, 0.4];
/** Log likelihood ratio from which a drift is taken out of the boots, and from which it is said to be there. */
const LIKELY = 1.5;
const CLEAR = 3;
/** Spread of the level between blocks, in σ. */
const BETWEEN = 1;

/** @param walks whether the level may also wander within a block, not only differ between blocks */
export function estimateDrift(input: DriftInput, walks = true): Drift {
  const n = input.residual.length;
  const blocks = new Map<string, number[]>();
  for (let i = 0; i < n; i++) blocks.set(input.block[i]!, [...(blocks.get(input.block[i]!) ?? []), i]);
  const chains = [...blocks.values()];
  const start = (chains.length > 1 ? BETWEEN * input.sigma : 0.3 * input.sigma) ** 2;
  const clipped = input.residual.map((r, i) => {
    const cut = 2.5 * Math.sqrt(input.variance[i]!);
    return Math.max(-cut, Math.min(cut, r));
  });
  const likelihood = (step: number) =>
    chains.reduce((sum, chain) => sum + chainLikelihood(chain, clipped, input.variance, start, step * input.sigma), 0);
  const none = likelihood(0);
  let best = 0;
  let bestGain = 0;
  for (const step of walks ? STEPS : []) {
    const gain = likelihood(step) - none;
    if (gain > bestGain) {
      bestGain = gain;
      best = step;
    }
  }
  const found = bestGain > LIKELY;
  const clear = bestGain > CLEAR;
  const offset = new Float64Array(n);
  if (!found && chains.length === 1) return { offset, found, clear };
  const q = ((found ? best : 0) * input.sigma) ** 2;
  for (const chain of chains) {
    const forward = predictions(chain, clipped, input.variance, start, q);
    const backward = predictions([...chain].reverse(), clipped, input.variance, start, q);
    chain.forEach((i, k) => {
      const f = forward[k]!;
      const b = backward[chain.length - 1 - k]!;
      // both predictions hold the start's prior once: take it out of one of them
      const precision = 1 / f.variance + 1 / b.variance - 1 / start;
      offset[i] = (f.mean / f.variance + b.mean / b.variance) / Math.max(precision, 1 / start);
    });
  }
  return { offset, found, clear };
}

/** Mean and variance of the offset at each boot of a chain, from the boots before it. */
function predictions(chain: number[], residual: Float64Array, variance: Float64Array, start: number, q: number) {
  let mean = 0;
  let spread = start;
  return chain.map((i) => {
    const before = { mean, variance: spread };
    const gain = spread / (spread + variance[i]!);
    mean += gain * (residual[i]! - mean);
    spread = spread * (1 - gain) + q;
    return before;
  });
}

function chainLikelihood(chain: number[], residual: Float64Array, variance: Float64Array, start: number, step: number) {
  let sum = 0;
  const before = predictions(chain, residual, variance, start, step * step);
  chain.forEach((i, k) => {
    const total = before[k]!.variance + variance[i]!;
    sum -= 0.5 * (Math.log(total) + (residual[i]! - before[k]!.mean) ** 2 / total);
  });
  return sum;
}
