import { momentsOf } from './moments.ts';

/** A metric's boot-to-boot noise as its history shows it: relative variance (of the level's square), and its worth. */
export interface Noise {
  relVariance: number;
  df: number;
}

/** Boots after which a boot's weight in the noise model has halved. */
export const HALF_LIFE_BOOTS = 64;

/**
 * The noise of one metric from boots of other kernels, oldest first.
 *
 * Each kernel's own level is taken out, so steps between kernels do not count; kernels of a single boot count by
 * their successive differences (von Neumann 1941: E(Δ²) = 2σ²), which a slow trend hardly touches, and of which the
 * largest tenth is left out as steps. Weights halve every {@link HALF_LIFE_BOOTS} boots.
 */
export function noiseOf(kernels: readonly (readonly (number | null)[])[]): Noise {
  let squares = 0;
  let df = 0;
  let age = 0;
  const singles: { value: number; age: number }[] = [];
  for (let k = kernels.length - 1; k >= 0; k--) {
    const m = momentsOf(kernels[k]!);
    if (m.n === 0) continue;
    const weight = 0.5 ** (age / HALF_LIFE_BOOTS);
    age += m.n;
    if (m.n === 1) {
      singles.push({ value: m.mean, age });
      continue;
    }
    const level = Math.max(Math.abs(m.min), Math.abs(m.max));
    if (level > 0) squares += (weight * m.squares) / (m.mean !== 0 ? m.mean ** 2 : level ** 2);
    df += weight * (m.n - 1);
  }
  const steps = singles
    .slice(1)
    .map((single, i) => {
      const before = singles[i]!;
      const level = (Math.abs(single.value) + Math.abs(before.value)) / 2;
      return { square: level > 0 ? ((single.value - before.value) / level) ** 2 / 2 : 0, age: single.age };
    })
    .sort((a, b) => a.square - b.square);
  for (const step of steps.slice(0, Math.ceil(steps.length * 0.9))) {
    const weight = 0.5 ** (step.age / HALF_LIFE_BOOTS);
    squares += weight * step.square;
    // Neighbouring differences share a boot: they are worth two thirds of as many free ones.
    df += (weight * 2) / 3;
  }
  return { relVariance: df > 0 ? squares / Math.max(df, 1e-9) : 0, df };
}
