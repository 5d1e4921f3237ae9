import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { homeDir } from '@kdelta/home';
import { type Matrix, parseMatrix } from '@kdelta/matrix';
import { normal } from './random.ts';

/** Matrices of really recorded boots (shared/data/boots), or, without them, made-up ones of the same names. */
export function recordedMatrix(name: string, random: () => number): Matrix {
  const file = join(
    process.env.KDELTA_SHARED ?? join(homeDir(), '..', 'shared'),
    'data',
    'boots',
    `${name}.matrix.json`,
  );
  if (existsSync(file)) return parseMatrix(readFileSync(file, 'utf8'), file);
  const boots = Array.from({ length: 6 }, (_, i) => `${name}-${i}`);
  const metrics = new Map<string, (number | null)[]>();
  const factor = name.includes('initalloc') ? 0.75 : 1;
  metrics.set(
    'dbench.throughput_MB/s',
    boots.map(() => 300 * factor * (1 + 0.002 * normal(random))),
  );
  for (let i = 0; i < 300; i++)
    metrics.set(
      `proc-vmstat.counter_${i}`,
      boots.map(() => Math.round(1000 * (i + 1) * (1 + 0.01 * normal(random)))),
    );
  return { boots, metrics };
}

/** `n` boots like those recorded: each takes a recorded boot and moves every number by a little of its own spread. */
export function moreBoots(matrix: Matrix, n: number, random: () => number, scale: Record<string, number> = {}): Matrix {
  const metrics = new Map<string, (number | null)[]>();
  for (const [metric, values] of matrix.metrics) {
    const known = values.filter((value): value is number => value !== null);
    if (!known.length) continue;
    const mean = known.reduce((a, b) => a + b, 0) / known.length;
    const sd = Math.sqrt(known.reduce((a, b) => a + (b - mean) ** 2, 0) / Math.max(1, known.length - 1));
    const whole = known.every(Number.isInteger);
    const factor = scale[metric] ?? 1;
    metrics.set(
      metric,
      Array.from({ length: n }, () => {
        const value = (mean + sd * normal(random)) * factor;
        return whole ? Math.max(0, Math.round(value)) : Math.max(0, Number(value.toPrecision(7)));
      }),
    );
  }
  return { boots: Array.from({ length: n }, (_, i) => `boot-${i}`), metrics };
}
