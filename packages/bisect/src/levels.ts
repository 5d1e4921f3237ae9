import { addLogDensities, logDensity, SHAPES } from './noise.ts';

/**
 * Evidence of numbers for each class of candidates: two unknown levels, one unknown spread, unknown shape of noise,
 * all integrated out on a grid. For a class k with old boots O and new boots N
 *
 *   E(k) = Σ_shape Σ_σ π(σ) · ∫ Π_{i∈O} f((y_i−μ₀)/σ)/σ dμ₀ · ∫ Π_{i∈N} f((y_i−μ₁)/σ)/σ dμ₁
 *
 * The ends' boots are old, or new, under every candidate, so both level integrals need only cover what the ends allow.
 */
export interface LevelData {
  /** Per boot: the number (transformed and corrected), and the kernel it came from. */
  y: Float64Array;
  kernel: Int32Array;
  kernels: number;
  /** The kernels of the two ends. */
  good: number;
  bad: number;
  /** Standard deviation of one boot in units of y, with its degrees of freedom (0: unknown). */
  sd: number;
  df: number;
  /** Spread between builds in units of y. */
  buildSd: number;
  /** Smallest spread that y can have (rounding). */
  floor: number;
}

export interface LevelEvidence {
  /** Log evidence per class, and of no step at all. */
  classes: Float64Array;
  none: number;
  /** Rough levels and spread used to lay the grid. */
  rough: Rough;
  /** Means and variances of both levels, averaged over the classes by their evidence. */
  level0: number;
  level1: number;
  variance0: number;
  variance1: number;
  sigma: number;
}

export interface Rough {
  mu0: number;
  mu1: number;
  sigma: number;
  wide: number;
  /** Per kernel: probability that it is new, from these rough levels alone. */
  isNew: Float64Array;
}

const LEVEL_POINTS = 25;

/** Tables of earlier boots, kept from one call to the next while boots are only added. Derived data: may be dropped. */
export interface LevelTables {
  kept: Tables | null;
}

interface Tables {
  /** The boots that are in the tables. */
  y: Float64Array;
  kernel: Int32Array;
  /** How many of them laid the grids. */
  laidBy: number;
  rough: Rough;
  sigmas: Float64Array;
  prior: Float64Array;
  grid0: Float64Array;
  grid1: Float64Array;
  /** Per kernel. */
  table0: Float64Array[];
  table1: Float64Array[];
  one: { sigmas: Float64Array; grid: Float64Array; table: Float64Array };
}

/**
 * @param isNew one byte per class and kernel (row = class): 1 when the kernel is new for the class's candidates
 * @param weight prior mass per class, for averaging the levels
 */
export function levelEvidence(
  data: LevelData,
  isNew: Uint8Array,
  weight: ArrayLike<number>,
  tables: LevelTables = { kept: null },
): LevelEvidence {
  const kernels = data.kernels;
  const classes = kernels === 0 ? 0 : isNew.length / kernels;
  const { rough, sigmas, prior, grid0, grid1, table0, table1, one } = fillTables(data, tables);
  const size = SHAPES * sigmas.length * LEVEL_POINTS;

  const sum0 = new Float64Array(size);
  const sum1 = new Float64Array(size);
  for (const table of table0) for (let g = 0; g < size; g++) sum0[g]! += table[g]!;
  const current = new Uint8Array(kernels);
  const evidence = new Float64Array(classes);
  const moments = new Float64Array(classes * 5);
  const constant = Math.log(grid0[1]! - grid0[0]!) + Math.log(grid1[1]! - grid1[0]!);
  let best = Number.NEGATIVE_INFINITY;
  for (let k = 0; k < classes; k++) {
    // neighbouring classes differ in few kernels: move only those from one side to the other
    for (let t = 0; t < kernels; t++) {
      const wanted = isNew[k * kernels + t]!;
      if (wanted === current[t]) continue;
      current[t] = wanted;
      const [old, fresh] = [table0[t]!, table1[t]!];
      if (wanted === 1) {
        for (let g = 0; g < size; g++) {
          sum0[g]! -= old[g]!;
          sum1[g]! += fresh[g]!;
        }
      } else {
        for (let g = 0; g < size; g++) {
          sum0[g]! += old[g]!;
          sum1[g]! -= fresh[g]!;
        }
      }
    }
    evidence[k] = constant + classEvidence(sum0, sum1, sigmas, prior, grid0, grid1, moments, k * 5, best - 30);
    if (evidence[k]! - constant > best) best = evidence[k]! - constant;
  }
  const averaged = averageMoments(evidence, weight, moments);
  const d = (averaged[1]! - averaged[0]!) / averaged[4]!;
  // the size of the step has a Cauchy prior of scale 1.5 σ; the common level's flat prior cancels against `none`
  const stepPrior = -Math.log(Math.PI * 1.5 * (1 + (d / 1.5) ** 2)) - Math.log(averaged[4]!);
  for (let k = 0; k < classes; k++) evidence[k]! += stepPrior;
  return {
    classes: evidence,
    none: oneLevelEvidence(data, one),
    rough,
    level0: averaged[0]!,
    level1: averaged[1]!,
    variance0: averaged[2]!,
    variance1: averaged[3]!,
    sigma: averaged[4]!,
  };
}

/** Log-sum over shape and spread of prior × both level integrals; writes E and variance of the levels and E σ. */
function classEvidence(
  sum0: Float64Array,
  sum1: Float64Array,
  sigmas: Float64Array,
  prior: Float64Array,
  grid0: Float64Array,
  grid1: Float64Array,
  moments: Float64Array,
  at: number,
  negligible: number,
): number {
  const rows = SHAPES * sigmas.length;
  let top = Number.NEGATIVE_INFINITY;
  const peaks0 = new Float64Array(rows);
  const peaks1 = new Float64Array(rows);
  for (let r = 0; r < rows; r++) {
    let m0 = Number.NEGATIVE_INFINITY;
    let m1 = Number.NEGATIVE_INFINITY;
    for (let g = r * LEVEL_POINTS, end = g + LEVEL_POINTS; g < end; g++) {
      if (sum0[g]! > m0) m0 = sum0[g]!;
      if (sum1[g]! > m1) m1 = sum1[g]!;
    }
    peaks0[r] = m0;
    peaks1[r] = m1;
    const peak = prior[r]! + m0 + m1;
    if (peak > top) top = peak;
  }
  // Laplace's width of both levels is at most LEVEL_POINTS² steps: far below the best class nothing else is needed
  if (top + 2 * Math.log(LEVEL_POINTS * 2) < negligible) return top;
  let total = 0;
  let e0 = 0;
  let e1 = 0;
  let s0 = 0;
  let s1 = 0;
  let sigma = 0;
  for (let r = 0; r < rows; r++) {
    const base = prior[r]! + peaks0[r]! + peaks1[r]! - top;
    if (base < -18) continue;
    let i0 = 0;
    let i1 = 0;
    let a0 = 0;
    let a1 = 0;
    let b0 = 0;
    let b1 = 0;
    const from = r * LEVEL_POINTS;
    for (let g = 0; g < LEVEL_POINTS; g++) {
      const x0 = sum0[from + g]! - peaks0[r]!;
      if (x0 > -25) {
        const w = Math.exp(x0);
        i0 += w;
        a0 += w * grid0[g]!;
        b0 += w * grid0[g]! * grid0[g]!;
      }
      const x1 = sum1[from + g]! - peaks1[r]!;
      if (x1 > -25) {
        const w = Math.exp(x1);
        i1 += w;
        a1 += w * grid1[g]!;
        b1 += w * grid1[g]! * grid1[g]!;
      }
    }
    const mass = Math.exp(base) * i0 * i1;
    total += mass;
    e0 += (mass * a0) / i0;
    e1 += (mass * a1) / i1;
    s0 += (mass * b0) / i0;
    s1 += (mass * b1) / i1;
    sigma += mass * sigmas[r % sigmas.length]!;
  }
  moments[at] = e0 / total;
  moments[at + 1] = e1 / total;
  moments[at + 2] = s0 / total;
  moments[at + 3] = s1 / total;
  moments[at + 4] = sigma / total;
  return top + Math.log(total);
}

/** Averages E μ₀, E μ₁, their second moments (returned as variances) and E σ over the classes. */
function averageMoments(evidence: Float64Array, weight: ArrayLike<number>, moments: Float64Array): Float64Array {
  let top = Number.NEGATIVE_INFINITY;
  for (let k = 0; k < evidence.length; k++) if (weight[k]! > 0 && evidence[k]! > top) top = evidence[k]!;
  const out = new Float64Array(5);
  let total = 0;
  for (let k = 0; k < evidence.length; k++) {
    const w = weight[k]! * Math.exp(evidence[k]! - top);
    if (!(w > 1e-12) || moments[k * 5 + 4] === 0) continue;
    total += w;
    for (let j = 0; j < 5; j++) out[j]! += w * moments[k * 5 + j]!;
  }
  for (let j = 0; j < 5; j++) out[j]! /= total;
  out[2] = Math.max(0, out[2]! - out[0]! ** 2);
  out[3] = Math.max(0, out[3]! - out[1]! ** 2);
  return out;
}

/**
 * Brings the tables up to all boots. The grids are laid by the first 1.25^k boots, so that a new boot mostly adds its own
 * row only; that depends on the boots alone, and a replay gets the same numbers.
 */
function fillTables(data: LevelData, cache: LevelTables): Tables {
  const n = data.y.length;
  const plain = data.buildSd === 0;
  const laidBy = plain ? gridBoots(data) : n;
  let tables = plain ? cache.kept : null;
  const extends_ = (t: Tables) =>
    t.laidBy === laidBy && t.y.length <= n && t.y.every((v, i) => v === data.y[i] && t.kernel[i] === data.kernel[i]);
  if (tables === null || !extends_(tables)) tables = layGrids(data, laidBy);
  const weights = sharePerKernel(data, tables.rough);
  while (tables.table0.length < data.kernels) {
    const size = SHAPES * tables.sigmas.length * LEVEL_POINTS;
    tables.table0.push(new Float64Array(size));
    tables.table1.push(new Float64Array(size));
  }
  for (let i = tables.y.length; i < n; i++) {
    const k = data.kernel[i]!;
    const y = data.y[i]!;
    addBoot(tables.table0[k]!, y, weights[k]!, tables.sigmas, tables.grid0);
    addBoot(tables.table1[k]!, y, weights[k]!, tables.sigmas, tables.grid1);
    addBoot(tables.one.table, y, weights[k]!, tables.one.sigmas, tables.one.grid);
  }
  tables.y = data.y;
  tables.kernel = data.kernel;
  cache.kept = plain ? tables : null;
  return tables;
}

/** The largest 1.25^k that is at most n and holds boots of both ends; else n. */
function gridBoots(data: LevelData): number {
  const n = data.y.length;
  let laidBy = 6;
  while (Math.ceil(laidBy * 1.25) <= n) laidBy = Math.ceil(laidBy * 1.25);
  if (laidBy > n) return n;
  const early = data.kernel.subarray(0, laidBy);
  return early.filter((k) => k === data.good).length >= 2 && early.filter((k) => k === data.bad).length >= 2
    ? laidBy
    : n;
}

function layGrids(data: LevelData, laidBy: number): Tables {
  const early = { ...data, y: data.y.slice(0, laidBy), kernel: data.kernel.slice(0, laidBy) };
  const rough = roughLevels(early);
  const sigmas = spreadGrid(early, rough);
  const unit = (end: number) => rough.sigma / Math.sqrt(Math.max(1, countOf(early, end)));
  return {
    y: new Float64Array(0),
    kernel: new Int32Array(0),
    laidBy,
    rough,
    sigmas,
    prior: rowPrior(data, sigmas),
    grid0: levelGrid(rough.mu0, unit(data.good)),
    grid1: levelGrid(rough.mu1, unit(data.bad)),
    table0: [],
    table1: [],
    one: layOneLevel(early),
  };
}

/** Grid of the hypothesis of one common level: its spread must hold the whole step. */
function layOneLevel(data: LevelData): Tables['one'] {
  const n = data.y.length;
  const middle = medianOf(Float64Array.from(data.y).sort());
  const sd = Math.max(deviation(data.y, middle), data.floor);
  const mad = Math.max(1.4826 * medianOf(Float64Array.from(data.y, (v) => Math.abs(v - middle)).sort()), data.floor);
  const known = data.df > 0 ? Math.hypot(data.sd, data.buildSd) : sd;
  const room = Math.exp(5 / Math.sqrt(2 * Math.max(2, n - 1)));
  const low = Math.max(Math.min(sd, mad, known) / room, data.floor);
  const high = Math.max(sd, mad, data.floor) * room;
  const points = Math.min(24, Math.max(6, Math.ceil((Math.log(high / low) * Math.sqrt(2 * n)) / 1.6)));
  const sigmas = logGrid(low, high, points);
  const table = new Float64Array(SHAPES * sigmas.length * LEVEL_POINTS);
  return { sigmas, grid: levelGrid(middle, (1.2 * Math.max(sd, mad)) / Math.sqrt(n)), table };
}

function oneLevelEvidence(data: LevelData, one: Tables['one']): number {
  const prior = rowPrior(data, one.sigmas);
  const step = Math.log(one.grid[1]! - one.grid[0]!);
  return logSum(one.table.map((v, i) => v + prior[Math.floor(i / LEVEL_POINTS)]! + step));
}

/** Adds a boot's log density for every shape, spread and level. */
function addBoot(table: Float64Array, y: number, weight: number, sigmas: Float64Array, grid: Float64Array): void {
  let at = 0;
  for (let shape = 0; shape < SHAPES; shape++) {
    for (const sigma of sigmas) {
      addLogDensities(table, at, shape, y, grid, sigma, weight, -weight * Math.log(sigma));
      at += LEVEL_POINTS;
    }
  }
}

/**
 * Boots of one build share its layout: n of them are worth n(σ²+ω²)/(σ²+nω²) independent ones, σ² boot and ω² build
 * variance (the variance of their mean is ω² + σ²/n).
 */
function sharePerKernel(data: LevelData, rough: Rough): Float64Array {
  const share = new Float64Array(data.kernels).fill(1);
  if (data.buildSd === 0) return share;
  const build = data.buildSd ** 2;
  const boot = Math.max(data.df > 0 ? data.sd ** 2 : rough.sigma ** 2 - build, 0.01 * build);
  for (let t = 0; t < data.kernels; t++) {
    const n = countOf(data, t);
    share[t] = (boot + build) / (boot + n * build);
  }
  return share;
}

/** Prior of each heavy-tailed shape beside the Gaussian's, before any boot. */
const HEAVY = 0.3;

/** Log prior of each shape and spread. A history of many boots that fit its spread leaves little for heavy tails. */
function rowPrior(data: LevelData, sigmas: Float64Array): Float64Array {
  const spread = spreadPrior(data, sigmas);
  const heavy = HEAVY / Math.max(1, data.df);
  const total = 1 + (SHAPES - 1) * heavy;
  return Float64Array.from({ length: SHAPES * sigmas.length }, (_, r) => {
    const shape = Math.floor(r / sigmas.length);
    return spread[r % sigmas.length]! + Math.log((shape === 0 ? 1 : heavy) / total);
  });
}

/** Scaled inverse χ² from the history (flat in log σ without one), times the grid's step. */
function spreadPrior(data: LevelData, sigmas: Float64Array): Float64Array {
  const step = sigmas.length > 1 ? Math.log(sigmas[1]! / sigmas[0]!) : 1;
  const known = data.sd ** 2 + data.buildSd ** 2;
  return sigmas.map((sigma) => {
    if (data.df <= 0) return Math.log(step);
    const half = data.df / 2;
    const x = known / (sigma * sigma);
    return half * Math.log(half * x) - half * x - logGamma(half) + Math.log(2 * step);
  });
}

function spreadGrid(data: LevelData, rough: Rough): Float64Array {
  const freedom = Math.max(2, data.y.length - 2 + data.df);
  const room = Math.exp(5 / Math.sqrt(2 * freedom));
  const low = Math.max(Math.min(rough.sigma, rough.wide) / room, data.floor);
  const high = Math.max(rough.sigma, rough.wide, data.floor) * room;
  const points = Math.max(5, Math.ceil((Math.log(high / low) * Math.sqrt(2 * freedom)) / 1.6));
  return logGrid(low, high, Math.min(points, 24));
}

function levelGrid(centre: number, unit: number): Float64Array {
  const half = (LEVEL_POINTS - 1) / 2;
  return Float64Array.from({ length: LEVEL_POINTS }, (_, i) => centre + ((i - half) / half) * 4.6 * unit);
}

/** Levels from the ends' medians, spread from all boots against the nearer level, twice refined. Lays the grid only. */
export function roughLevels(data: LevelData): Rough {
  const ends0 = valuesOf(data, data.good);
  const ends1 = valuesOf(data, data.bad);
  const mu0 = medianOf(ends0);
  const mu1 = medianOf(ends1);
  const endResiduals = Float64Array.from([...ends0.map((v) => v - mu0), ...ends1.map((v) => v - mu1)]);
  const freedom = Math.max(0, endResiduals.length - 2);
  const known = data.sd ** 2 + data.buildSd ** 2;
  const pooled = (squares: number, df: number) =>
    Math.max(Math.sqrt((squares + data.df * known) / Math.max(1, df + data.df)), data.floor);
  let sigma = pooled(trimmedSquares(endResiduals), freedom);
  let wide = pooled(squares(endResiduals), freedom);
  const isNew = new Float64Array(data.kernels);
  for (let round = 0; round < 2; round++) {
    const ratio = new Float64Array(data.kernels);
    for (let i = 0; i < data.y.length; i++) {
      const y = data.y[i]!;
      ratio[data.kernel[i]!]! += logDensity(2, (y - mu1) / sigma) - logDensity(2, (y - mu0) / sigma);
    }
    const residuals = new Float64Array(data.y.length);
    for (let t = 0; t < data.kernels; t++) isNew[t] = 1 / (1 + Math.exp(-ratio[t]!));
    isNew[data.good] = 0;
    isNew[data.bad] = 1;
    for (let i = 0; i < data.y.length; i++) residuals[i] = data.y[i]! - (isNew[data.kernel[i]!]! > 0.5 ? mu1 : mu0);
    const df = Math.max(1, data.y.length - 2);
    sigma = pooled(trimmedSquares(residuals), df);
    wide = pooled(squares(residuals), df);
  }
  return { mu0, mu1, sigma, wide, isNew };
}

/** Sum of squares with each residual cut at 3 robust deviations, so that a wild boot doesn't set the scale. */
function trimmedSquares(residuals: Float64Array): number {
  const sizes = residuals.map(Math.abs).sort();
  const cut = 3 * 1.4826 * medianOf(sizes);
  if (cut === 0) return squares(residuals) > 0 && sizes.length > 6 ? 0 : squares(residuals);
  return squares(residuals.map((r) => Math.max(-cut, Math.min(cut, r))));
}

function squares(values: Float64Array): number {
  let sum = 0;
  for (const v of values) sum += v * v;
  return sum;
}

function deviation(values: Float64Array, centre: number): number {
  let sum = 0;
  for (const v of values) sum += (v - centre) ** 2;
  return Math.sqrt(sum / Math.max(1, values.length - 1));
}

function valuesOf(data: LevelData, kernel: number): Float64Array {
  return data.y.filter((_, i) => data.kernel[i] === kernel).sort();
}

function countOf(data: LevelData, kernel: number): number {
  let n = 0;
  for (const k of data.kernel) if (k === kernel) n++;
  return n;
}

export function medianOf(sorted: Float64Array): number {
  const n = sorted.length;
  if (n === 0) return Number.NaN;
  const half = n >> 1;
  return n % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

function logGrid(low: number, high: number, points: number): Float64Array {
  const ratio = Math.log(high / low);
  return Float64Array.from({ length: points }, (_, i) => low * Math.exp((ratio * i) / (points - 1)));
}

export function logSum(terms: ArrayLike<number>): number {
  let top = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < terms.length; i++) if (terms[i]! > top) top = terms[i]!;
  if (top === Number.NEGATIVE_INFINITY) return top;
  let sum = 0;
  for (let i = 0; i < terms.length; i++) sum += Math.exp(terms[i]! - top);
  return top + Math.log(sum);
}

/** ln Γ(x) for x > 0 (Lanczos 1964, g = 7, nine terms). */
export function logGamma(x: number): number {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
  const c = [
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
  ];
  let sum = c[0]!;
  for (let i = 1; i < 9; i++) sum += c[i]! / (x - 1 + i);
  const t = x + 6.5;
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}
