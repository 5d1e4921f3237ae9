import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Matrix } from '@kdelta/matrix';
import { WorklogError } from './worklog.ts';

/**
 * Reads VM Regress results: `DIR/<pattern>_<size>/<prefix>-{time,refcount,pagemap,age}.data`, DIR being one kernel's
 * folder. One column: VM Regress ran each test once. Metrics are `<prefix>.<pattern>_<size>.<name>`, times in µs.
 */
export function readVmregress(dir: string): Matrix {
  const metrics = new Map<string, (number | null)[]>();
  for (const test of folders(dir)) {
    const files = readdirSync(join(dir, test));
    for (const file of files.filter((name) => name.endsWith('-time.data'))) {
      const prefix = file.slice(0, -'-time.data'.length);
      const pairs = (kind: string) => readPairs(join(dir, test, `${prefix}-${kind}.data`));
      const found: Record<string, number> = accessTimes(pairs('time').map((row) => row[1]!));
      const pages = pairs('pagemap');
      if (pages.length > 0) {
        const present = new Set(pages.filter((row) => row[1] === 1).map((row) => row[0]!));
        found.present = present.size;
        if (pages.some((row) => row.length > 2)) found.swapped = pages.filter((row) => row[2] === 1).length;
        for (const kind of ['refcount', 'age']) {
          const share = retention(present, pairs(kind));
          if (share !== null) found[`retention_${kind}`] = share;
        }
      }
      for (const [name, value] of Object.entries(found)) metrics.set(`${prefix}.${test}.${name}`, [value]);
    }
  }
  if (metrics.size === 0) throw new WorklogError(`${dir}: no VM Regress result (<test>/<prefix>-time.data) below it`);
  return { boots: [basename(dir)], metrics };
}

/** |present ∩ the P hottest (or newest) pages| / P, P being the pages present: 1 = the kernel kept the right ones. */
export function retention(present: Set<number>, scores: number[][]): number | null {
  if (scores.length === 0 || present.size === 0) return null;
  const best = [...scores].sort((a, b) => b[1]! - a[1]! || a[0]! - b[0]!).slice(0, present.size);
  return best.filter((row) => present.has(row[0]!)).length / present.size;
}

function accessTimes(micros: number[]): Record<string, number> {
  if (micros.length === 0) return {};
  const sorted = Float64Array.from(micros).sort();
  return {
    avg_us: micros.reduce((a, b) => a + b, 0) / micros.length,
    p99_us: sorted[Math.ceil(0.99 * sorted.length) - 1]!,
    max_us: sorted.at(-1)!,
    over_1ms: micros.filter((us) => us > 1000).length,
    accesses: micros.length,
  };
}

function readPairs(file: string): number[][] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => /^\s*\d/.test(line))
    .map((line, i) => {
      const row = line.trim().split(/\s+/).map(Number);
      if (row.length < 2 || row.some(Number.isNaN))
        throw new WorklogError(`${file}:${i + 1}: not two numbers: ${line.slice(0, 60)}`);
      return row;
    });
}

function folders(dir: string): string[] {
  if (!existsSync(dir)) throw new WorklogError(`${dir}: no such folder`);
  return readdirSync(dir)
    .filter((name) => statSync(join(dir, name)).isDirectory())
    .sort();
}
