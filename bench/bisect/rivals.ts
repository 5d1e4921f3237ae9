import { randomSource, type World } from './world.ts';

/** What a searcher answered, and the boots that it took (ends included). Lines only: every rival walks first parents. */
export interface Answer {
  culprit: number | null;
  boots: number;
}

type Rival = (world: World, d: number) => Answer;

/** `git bisect` with k boots per step: the mean against the middle of two five-boot ends. */
export function classic(k: number): Rival {
  return (world) => {
    const lab = new Lab(world);
    const [low, high] = lab.ends(5);
    const middle = (mean(low) + mean(high)) / 2;
    let [from, to] = [-1, lab.last];
    while (to - from > 1) {
      const c = (from + to) >> 1;
      if (mean(lab.take(c, k)) > middle) to = c;
      else from = c;
    }
    return { culprit: to, boots: lab.boots };
  };
}

/** Wald's sequential test at each step of a classic bisect, error δ/log₂n per step, levels and spread from ⌈24/d²⌉ boots of the ends. */
export const sequential: Rival = (world, d) => {
  const lab = new Lab(world);
  const [low, high] = lab.ends(Math.max(5, Math.ceil(24 / (d * d))));
  const [m0, m1] = [mean(low), mean(high)];
  const variance = (squares(low) + squares(high)) / (low.length + high.length - 2);
  const bound = Math.log(Math.log2(world.commits.length) / 0.05);
  let [from, to] = [-1, lab.last];
  while (to - from > 1) {
    const c = (from + to) >> 1;
    let odds = 0;
    while (Math.abs(odds) < bound && lab.boots < 4000)
      odds += ((m1 - m0) * (lab.take(c, 1)[0]! - (m0 + m1) / 2)) / variance;
    if (odds > 0) to = c;
    else from = c;
  }
  return { culprit: to, boots: lab.boots };
};

/**
 * Pinpoint's rules (Go): p = min(rank test, KS); below 0.05 different, above the 99th percentile of the rank test's p
 * at the asked size of step the same, else more boots (20, 40, 80, 160); different neighbours get their midpoint;
 * differences of means below 10 % of the step are the same. It is told d.
 */
export const pinpoint: Rival = (world, d) => {
  const lab = new Lab(world);
  const values = new Map<number, number[]>();
  const grow = (c: number, n: number) => {
    const have = values.get(c) ?? [];
    values.set(c, [...have, ...lab.take(c, Math.max(0, n - have.length))]);
  };
  const tested = [-1, lab.last];
  for (const c of tested) grow(c, 20);
  const found: number[] = [];
  const queue: [number, number][] = [[-1, lab.last]];
  while (queue.length > 0 && tested.length < 60) {
    const [a, b] = queue.pop()!;
    let n = Math.max(values.get(a)!.length, values.get(b)!.length);
    let different = false;
    for (;;) {
      grow(a, n);
      grow(b, n);
      const [x, y] = [values.get(a)!, values.get(b)!];
      if (Math.abs(mean(x) - mean(y)) < 0.1 * d * 10) break;
      const p = Math.min(rankTest(x, y), kolmogorov(x, y));
      different = p <= 0.05;
      if (different || p > sameAbove(n, d) || n >= 160) break;
      n *= 2;
    }
    if (!different) continue;
    if (b - a === 1) {
      found.push(b);
      continue;
    }
    const c = (a + b) >> 1;
    tested.push(c);
    grow(c, 20);
    queue.push([c, b], [a, c]);
  }
  return { culprit: found.length === 1 ? found[0]! : null, boots: lab.boots };
};

/**
 * git_bayesect's rule: a boot is a yes or no (above the middle of five-boot ends), Beta(½,½)–Bernoulli on both sides,
 * next the commit of least expected entropy (looked for among 24 posterior quantiles), stop at 0.95.
 */
export const bayesect: Rival = (world) => {
  const lab = new Lab(world);
  const [low, high] = lab.ends(5);
  const middle = (mean(low) + mean(high)) / 2;
  const n = lab.last + 1;
  const yes = new Float64Array(n + 1);
  const no = new Float64Array(n + 1);
  const logGamma = halfGamma(3000);
  const logBeta = (x: number, y: number) => logGamma(x) + logGamma(y) - logGamma(x + y + 0.5);
  const count = (c: number, value: number) => {
    if (value > middle) yes[c + 1]! += 1;
    else no[c + 1]! += 1;
  };
  for (const v of low) count(-1, v);
  for (const v of high) count(n - 1, v);
  const posterior = () => {
    let [y1, n1] = [sum(yes), sum(no)];
    let [y0, n0] = [0, 0];
    const log = new Float64Array(n);
    for (let b = 0; b < n; b++) {
      y0 += yes[b]!;
      n0 += no[b]!;
      y1 -= yes[b]!;
      n1 -= no[b]!;
      log[b] = logBeta(y0, n0) + logBeta(y1, n1);
    }
    const top = log.reduce((a, b) => Math.max(a, b));
    const mass = log.map((v) => Math.exp(v - top));
    const total = sum(mass);
    return mass.map((v) => v / total);
  };
  let mass = posterior();
  while (lab.boots < 400) {
    const best = mass.indexOf(mass.reduce((a, b) => Math.max(a, b)));
    if (mass[best]! >= 0.95) return { culprit: best, boots: lab.boots };
    const candidates = new Set<number>();
    let below = 0;
    for (let b = 0; b < n; b++) {
      const before = Math.floor(below * 24);
      below += mass[b]!;
      if (Math.floor(below * 24) > before && b < n - 1) candidates.add(b);
      if (mass[b]! > 0.02) for (const c of [b - 1, b]) if (c >= 0 && c < n - 1) candidates.add(c);
    }
    let [pick, least] = [Math.min(best, n - 2), Number.POSITIVE_INFINITY];
    const shareNew = (c: number) => {
      const q = mass.subarray(0, c + 1).reduce((a, b) => a + b, 0);
      return q;
    };
    for (const c of candidates) {
      // expected entropy falls most where the answer is least known, given the rates of both sides
      const q = shareNew(c);
      const rate0 =
        (sum(yes.subarray(0, best + 1)) + 0.5) / (sum(yes.subarray(0, best + 1)) + sum(no.subarray(0, best + 1)) + 1);
      const rate1 =
        (sum(yes.subarray(best + 1)) + 0.5) / (sum(yes.subarray(best + 1)) + sum(no.subarray(best + 1)) + 1);
      const left = -(h(q * rate1 + (1 - q) * rate0) - q * h(rate1) - (1 - q) * h(rate0));
      if (left < least) [pick, least] = [c, left];
    }
    count(pick, lab.take(pick, 1)[0]!);
    mass = posterior();
  }
  return { culprit: null, boots: lab.boots };
};

class Lab {
  boots = 0;
  readonly last: number;
  constructor(readonly world: World) {
    this.last = world.commits.length - 1;
  }
  take(c: number, n: number): number[] {
    this.boots += n;
    return Array.from({ length: n }, () => this.world.boot(c < 0 ? 'good' : this.world.commits[c]!.sha));
  }
  ends(n: number): [number[], number[]] {
    return [this.take(-1, n), this.take(this.last, n)];
  }
}

const sum = (v: ArrayLike<number>) => {
  let s = 0;
  for (let i = 0; i < v.length; i++) s += v[i]!;
  return s;
};
const mean = (v: number[]) => sum(v) / v.length;
const squares = (v: number[]) => {
  const m = mean(v);
  return v.reduce((s, x) => s + (x - m) ** 2, 0);
};
const h = (q: number) => (q <= 0 || q >= 1 ? 0 : -(q * Math.log2(q) + (1 - q) * Math.log2(1 - q)));

/** ln Γ(k + ½) and ln Γ(k + 1) by recurrence: logGamma(x) is ln Γ(x + ½) for multiples of ½. */
function halfGamma(most: number): (x: number) => number {
  const table = new Float64Array(2 * most);
  table[0] = 0.5 * Math.log(Math.PI);
  table[1] = 0;
  for (let i = 2; i < table.length; i++) table[i] = table[i - 2]! + Math.log((i - 2) / 2 + 0.5);
  return (x) => table[Math.round(2 * x)]!;
}

/** Two-sided Mann–Whitney p, normal approximation (values without ties). */
function rankTest(x: number[], y: number[]): number {
  const all = [...x.map((v) => [v, 0] as const), ...y.map((v) => [v, 1] as const)].sort((a, b) => a[0] - b[0]);
  let ranks = 0;
  all.forEach(([, side], i) => {
    if (side === 0) ranks += i + 1;
  });
  const [n, m] = [x.length, y.length];
  const u = ranks - (n * (n + 1)) / 2;
  const z = Math.abs(u - (n * m) / 2) / Math.sqrt((n * m * (n + m + 1)) / 12);
  return Math.min(1, 2 * upperTail(z));
}

/** Two-sample Kolmogorov–Smirnov p, asymptotic. */
function kolmogorov(x: number[], y: number[]): number {
  const [a, b] = [[...x].sort((p, q) => p - q), [...y].sort((p, q) => p - q)];
  let [i, j, gap] = [0, 0, 0];
  while (i < a.length && j < b.length) {
    if (a[i]! <= b[j]!) i++;
    else j++;
    gap = Math.max(gap, Math.abs(i / a.length - j / b.length));
  }
  const e = Math.sqrt((a.length * b.length) / (a.length + b.length));
  const t = (e + 0.12 + 0.11 / e) * gap;
  let p = 0;
  for (let k = 1; k < 50; k++) p += 2 * (k % 2 === 1 ? 1 : -1) * Math.exp(-2 * k * k * t * t);
  return Math.min(1, Math.max(0, p));
}

/** 1 − Φ(z), Abramowitz & Stegun 26.2.17. */
function upperTail(z: number): number {
  const t = 1 / (1 + 0.2316419 * z);
  const poly = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return poly * 0.3989422804014327 * Math.exp((-z * z) / 2);
}

const thresholds = new Map<string, number>();
/** 99th percentile of the rank test's p over 1,000 simulated pairs with a step of d. */
function sameAbove(n: number, d: number): number {
  const key = `${n} ${d}`;
  let found = thresholds.get(key);
  if (found === undefined) {
    const { normal } = randomSource(n * 131 + Math.round(d * 1000));
    const draw = (shift: number) => Array.from({ length: n }, () => shift + normal());
    const p = Array.from({ length: 1000 }, () => rankTest(draw(0), draw(d))).sort((a, b) => a - b);
    found = p[990]!;
    thresholds.set(key, found);
  }
  return found;
}
