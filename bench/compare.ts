import { buildRegistry, type Matrix, parseMatrix, writeMatrixJson } from '@kdelta/matrix';
import { judge } from '@kdelta/stats';
import { seeded } from './splits.ts';

/** Time and memory of reading and judging two matrices, against the number of metrics and boots. */
const registry = buildRegistry();
console.log('metrics   boots   read ms   judge ms   ms per 1000 metrics   heap MB');
for (const boots of [3, 5, 10]) {
  for (const metrics of [1000, 5000, 20_000, 100_000]) {
    const texts = [writeMatrixJson(simulated(metrics, boots, 1)), writeMatrixJson(simulated(metrics, boots, 2))];
    if (metrics === 1000) read(texts);
    const start = performance.now();
    const [base, head] = read(texts);
    const parsed = performance.now();
    judge({ base: base!, head: head!, registry });
    const done = performance.now();
    const heap = process.memoryUsage().heapUsed / 1e6;
    const cells = [metrics, boots, parsed - start, done - parsed, ((done - start) * 1000) / metrics, heap];
    console.log(cells.map((cell, i) => cell.toFixed(i < 2 ? 0 : 1).padStart([7, 8, 10, 11, 22, 10][i]!)).join(''));
  }
}

function read(texts: string[]): Matrix[] {
  return texts.map((text) => parseMatrix(text));
}

function simulated(metrics: number, boots: number, seed: number): Matrix {
  const random = seeded(seed);
  const rows = new Map<string, number[]>();
  for (let i = 0; i < metrics; i++) {
    const level = 10 ** (6 * random());
    rows.set(
      `sim.metric${i}`,
      Array.from({ length: boots }, () => level * (1 + 0.05 * (random() + random() - 1))),
    );
  }
  return { boots: Array.from({ length: boots }, (_, i) => String(i)), metrics: rows };
}
