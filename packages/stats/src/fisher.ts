import { logGamma, normalQuantile } from './student.ts';

/**
 * Two-sided p of Fisher's exact test for a failures in n against b failures in m runs: the summed probability of all
 * tables with the same margins that are no likelier than this one.
 */
export function fisherExact(a: number, n: number, b: number, m: number): number {
  const fails = a + b;
  const observed = logTable(a, n, fails, m);
  let p = 0;
  for (let k = Math.max(0, fails - m); k <= Math.min(n, fails); k++) {
    const log = logTable(k, n, fails, m);
    if (log <= observed + 1e-7) p += Math.exp(log);
  }
  return Math.min(1, p);
}

/** 95 % interval of b/m − a/n (Newcombe 1998, method 10: Wilson limits combined), as fractions. */
export function rateDifferenceInterval(a: number, n: number, b: number, m: number): [number, number] {
  const [l1, u1] = wilson(a, n);
  const [l2, u2] = wilson(b, m);
  const p1 = a / n;
  const p2 = b / m;
  const difference = p2 - p1;
  return [difference - Math.hypot(p2 - l2, u1 - p1), difference + Math.hypot(u2 - p2, p1 - l1)];
}

function wilson(k: number, n: number): [number, number] {
  const z = normalQuantile(0.975);
  const p = k / n;
  const centre = (p + (z * z) / (2 * n)) / (1 + (z * z) / n);
  const half = (z / (1 + (z * z) / n)) * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n));
  return [Math.max(0, centre - half), Math.min(1, centre + half)];
}

function logTable(k: number, n: number, fails: number, m: number): number {
  return logChoose(n, k) + logChoose(m, fails - k) - logChoose(n + m, fails);
}

function logChoose(n: number, k: number): number {
  return logFactorial(n) - logFactorial(k) - logFactorial(n - k);
}

const factorials: number[] = [];

/** Kept for counts of boots as they occur: every table of a pair asks for the same few. */
function logFactorial(n: number): number {
  if (!(n >= 0 && n < 1000)) return logGamma(n + 1);
  for (let i = factorials.length; i <= n; i++) factorials.push(logGamma(i + 1));
  return factorials[n]!;
}
