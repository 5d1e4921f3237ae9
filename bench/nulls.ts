import { buildRegistry, type Matrix } from '@kdelta/matrix';
import { isReported, judge } from '@kdelta/stats';
import { seeded } from './splits.ts';

/**
 * Simulated comparisons of a kernel with itself: 500 metrics of one shape, correlated in blocks of 20 (a Gaussian
 * copula, ρ = 0.7), and the share of comparisons in which anything at all is reported.
 *
 * Usage: nulls [comparisons per case] [shape]
 */
const METRICS = 500;
const BLOCK = 20;
const CORRELATION = 0.7;
const comparisons = Number(process.argv[2] ?? 1000);
const only = process.argv[3];

type Shape = (z: number, metric: number) => number;

const spreads = Array.from({ length: METRICS }, (_, i) => 0.01 * 20 ** (((i * 7919) % METRICS) / METRICS));

const shapes: Record<string, Shape> = {
  normal: (z, i) => 1000 * (1 + spreads[i]! * z),
  'log-normal': (z, i) => 1000 * Math.exp((0.1 + 4 * spreads[i]!) * z),
  t3: (z, i) => 1000 * (1 + 0.5 * spreads[i]! * tQuantile3(normalCdf(z))),
  bimodal: (z, i) => 1000 * ((normalCdf(z) < 0.7 ? 1 : 1 + 10 * spreads[i]!) + 0.1 * spreads[i]! * tail(z)),
  'bimodal 50:50': (z, i) => 1000 * ((normalCdf(z) < 0.5 ? 1 : 1 + 10 * spreads[i]!) + 0.1 * spreads[i]! * tail(z)),
  'bimodal exact': (z, i) => (normalCdf(z) < 0.5 ? 1000 : 1000 * (1 + 10 * spreads[i]!)),
  poisson: (z, i) => poissonQuantile(normalCdf(z), 0.3 * 1000 ** (((i * 7919) % METRICS) / METRICS)),
};

const registry = buildRegistry();
for (const [name, shape] of Object.entries(shapes)) {
  if (only && !name.startsWith(only)) continue;
  for (const withFails of [false, true]) {
    const cells: string[] = [];
    for (const n of [2, 3, 4, 5, 7, 10]) {
      const random = seeded(n * 1000 + name.length);
      let reported = 0;
      for (let c = 0; c < comparisons; c++) {
        const base = simulate(shape, n, random, withFails);
        const head = simulate(shape, n, random, withFails);
        if (judge({ base, head, registry }).deltas.some(isReported)) reported++;
      }
      cells.push(`${n}v${n} ${((100 * reported) / comparisons).toFixed(1).padStart(5)} %`);
    }
    console.log(`${name.padEnd(14)} ${withFails ? 'with fail:runs' : '              '}  ${cells.join('   ')}`);
  }
}

function simulate(shape: Shape, n: number, random: () => number, withFails: boolean): Matrix {
  const metrics = new Map<string, number[]>();
  for (let i = 0; i < METRICS; i++) metrics.set(`sim.m${i}`, new Array(n));
  for (let boot = 0; boot < n; boot++) {
    let common = 0;
    for (let i = 0; i < METRICS; i++) {
      if (i % BLOCK === 0) common = normal(random);
      const z = Math.sqrt(CORRELATION) * common + Math.sqrt(1 - CORRELATION) * normal(random);
      metrics.get(`sim.m${i}`)![boot] = shape(z, i);
    }
  }
  if (withFails) {
    for (let i = 0; i < 50; i++) {
      metrics.set(
        `dmesg.fail${i}.fail`,
        Array.from({ length: n }, () => (random() < (i + 1) / 60 ? 1 : 0)),
      );
    }
  }
  return { boots: Array.from({ length: n }, (_, i) => String(i)), metrics };
}

function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

function normalCdf(z: number): number {
  // Abramowitz & Stegun 26.2.17, |error| < 7.5e-8: enough to shape data with.
  const t = 1 / (1 + 0.2316419 * Math.abs(z));
  const d = Math.exp((-z * z) / 2) * 0.3989422804014327;
  const p = d * t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return z > 0 ? 1 - p : p;
}

/** A wobble within a mode, fixed by z but not monotone in it. */
function tail(z: number): number {
  return Math.sin(1e4 * z) * 1.4;
}

function tQuantile3(p: number): number {
  // Exact cdf of t₃ inverted by Newton from the normal's tail.
  let t = Math.sign(p - 0.5) * Math.min(50, 0.1 + Math.abs(p - 0.5) ** 3 * 30);
  for (let i = 0; i < 60; i++) {
    const u = t / Math.sqrt(3);
    const cdf = 0.5 + (Math.atan(u) + u / (1 + u * u)) / Math.PI;
    const density = 2 / (Math.PI * Math.sqrt(3) * (1 + u * u) ** 2);
    const step = Math.max(-5, Math.min(5, (cdf - p) / density));
    t -= step;
    if (Math.abs(step) < 1e-9) break;
  }
  return t;
}

function poissonQuantile(p: number, mean: number): number {
  let k = 0;
  let term = Math.exp(-mean);
  let sum = term;
  while (sum < p && k < 10 * mean + 50) {
    k++;
    term *= mean / k;
    sum += term;
  }
  return k;
}
