/**
 * Shapes that a boot's noise may have, each a density of r = (y − level)/σ. Their evidence is averaged (the data choose):
 * a wild boot is explained by the tail of a heavy shape, and then says nothing about the level.
 */
const TABLE_STEP = 1 / 32;
const TABLE_END = 16;
const LN_SQRT_2PI = 0.9189385332046727;

const gauss = (r: number, sd: number) => Math.exp((-r * r) / (2 * sd * sd)) / sd;

const LOG_DENSITIES: ((r: number) => number)[] = [
  (r) => -0.5 * r * r - LN_SQRT_2PI,
  // 6 % wild boots, eight times wider
  (r) => Math.log(0.94 * gauss(r, 1) + 0.06 * gauss(r, 8)) - LN_SQRT_2PI,
  // Student's t with 3 degrees of freedom: Γ(2)/(√(3π)Γ(1.5)) (1 + r²/3)^−2
  (r) => -2 * Math.log1p((r * r) / 3) - 1.0008888496235102,
];

export const SHAPES = LOG_DENSITIES.length;

const TABLES = LOG_DENSITIES.map((f) =>
  Float64Array.from({ length: TABLE_END / TABLE_STEP + 2 }, (_, i) => f(i * TABLE_STEP)),
);

/** Log density of one boot at r standard units from its level, for a shape 0…SHAPES−1 (σ not included). */
export function logDensity(shape: number, r: number): number {
  if (shape === 0) return -0.5 * r * r - LN_SQRT_2PI;
  const a = Math.abs(r);
  if (a >= TABLE_END) return shape === 1 ? wideTail(a) : LOG_DENSITIES[shape]!(a);
  const x = a / TABLE_STEP;
  const i = x | 0;
  const table = TABLES[shape]!;
  return table[i]! + (x - i) * (table[i + 1]! - table[i]!);
}

/** Beyond the table only the wide part is left; its logarithm must not underflow. */
function wideTail(a: number): number {
  return Math.log(0.06 / 8) - (a * a) / 128 - LN_SQRT_2PI;
}

/** Adds weight · logDensity(shape, (y − level)/σ) + constant for each level of a grid to `out` from `at` on: the hot loop. */
export function addLogDensities(
  out: Float64Array,
  at: number,
  shape: number,
  y: number,
  grid: Float64Array,
  sigma: number,
  weight: number,
  constant: number,
): void {
  const inverse = 1 / sigma;
  if (shape === 0) {
    const add = constant - weight * LN_SQRT_2PI;
    for (let g = 0; g < grid.length; g++) {
      const r = (y - grid[g]!) * inverse;
      out[at + g]! += add - 0.5 * weight * r * r;
    }
    return;
  }
  const table = TABLES[shape]!;
  for (let g = 0; g < grid.length; g++) {
    const x = Math.abs(y - grid[g]!) * (inverse / TABLE_STEP);
    if (x >= TABLE_END / TABLE_STEP) {
      out[at + g]! += constant + weight * logDensity(shape, x * TABLE_STEP);
      continue;
    }
    const i = x | 0;
    const low = table[i]!;
    out[at + g]! += constant + weight * (low + (x - i) * (table[i + 1]! - low));
  }
}
