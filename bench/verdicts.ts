import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { buildRegistry, type Matrix, parseMatrix } from '@kdelta/matrix';
import { isReported, judge } from '@kdelta/stats';
import { lkpDefault, lkpStrict, type Rule, welch, welchBh } from './rules.ts';
import { crossSplits, seeded, selfSplits } from './splits.ts';

/**
 * How often the judge reports a change that isn't there, and how many real ones it misses, on recorded boots.
 *
 *   npm run bench:verdicts -- [folder of *.matrix.json] [most splits] [first quiet boot of base] [of initalloc]
 *
 * Every matrix is compared with itself (random disjoint boots); base against initalloc gives the recall of
 * known-changes.json; and shifts of 1, 1.5 and 2 × each metric's own detectable_pct are put into self-comparisons.
 */
const folder = process.argv[2] ?? `${process.env.KDELTA_SHARED ?? '../shared'}/data/boots`;
const most = Number(process.argv[3] ?? 500);
if (!existsSync(folder)) {
  console.error(`bench:verdicts: no folder ${folder}; name one with *.matrix.json files`);
  process.exit(2);
}
const registry = buildRegistry();
const matrices = new Map(
  readdirSync(folder)
    .filter((file) => file.endsWith('.matrix.json'))
    .sort()
    .map((file) => [file.replace('.matrix.json', ''), parseMatrix(readFileSync(`${folder}/${file}`), file)]),
);

console.log(`Kernel against itself: share of comparisons with any report (mean number), up to ${most} splits`);
for (const [name, matrix] of matrices) {
  const deterministic = name.startsWith('icount');
  for (const n of [3, 5]) {
    const splits = selfSplits(all(matrix), n, most, seeded(n));
    if (splits.length === 0) continue;
    const others = { 'LKP default': lkpDefault, 'LKP strict': lkpStrict, Welch: welch, 'Welch + BH': welchBh };
    const cells = Object.entries(others).map(([label, rule]) => `${label} ${falseShare(matrix, splits, rule)}`);
    for (const withHistory of [false, true]) {
      if (withHistory && matrix.boots.length < 2 * n + 2) continue;
      const share = falseShareOf(splits, (a, b) => kdelta(matrix, matrix, a, b, withHistory, deterministic));
      cells.push(`kdelta${withHistory ? ' with history' : ''} ${share}`);
    }
    console.log(`  ${name} ${n} vs ${n} (${splits.length}): ${cells.join(', ')}`);
  }
}

const base = matrices.get('base');
const head = matrices.get('initalloc');
if (base && head && existsSync(`${folder}/known-changes.json`)) {
  const known = JSON.parse(readFileSync(`${folder}/known-changes.json`, 'utf8')) as string[];
  const quietBase = all(base).slice(Number(process.argv[4] ?? 4));
  const quietHead = all(head).slice(Number(process.argv[5] ?? 3));
  console.log(`Recall of the ${known.length} known changes, base against initalloc`);
  for (const [label, a, b, n] of [
    ['3 vs 3 quiet', quietBase, quietHead, 3],
    ['5 vs 5 all', all(base), all(head), 5],
  ] as const) {
    const splits = crossSplits([...a], [...b], n, most, seeded(n));
    if (splits.length === 0) continue;
    const cells: string[] = [];
    for (const [rule, f] of [
      ['LKP default', lkpDefault],
      ['LKP strict', lkpStrict],
      ['Welch + BH', welchBh],
    ] as const) {
      cells.push(`${rule} ${recall(splits, known, (x, y) => f(pick(base, x), pick(head, y)))}`);
    }
    cells.push(`kdelta ${recall(splits, known, (x, y) => kdelta(base, head, x, y, false, false))}`);
    const quiet = recall(splits, known, (x, y) => kdelta(base, head, x, y, true, false, [...a]));
    const rest = recall(splits, known, (x, y) => kdelta(base, head, x, y, true, false));
    cells.push(`kdelta with history ${quiet} (of all other boots ${rest})`);
    console.log(`  ${label} (${splits.length}): ${cells.join(', ')}`);
  }
}

console.log('Injected shifts of 1, 1.5 and 2 × detectable_pct that are found (each metric by itself, 20 splits)');
for (const [name, matrix] of matrices) {
  if (matrix.boots.length < 6) continue;
  for (const way of ['multiplied', 'added'] as const) {
    const n = matrix.boots.length >= 10 ? 5 : 3;
    console.log(`  ${name} ${n} vs ${n}, ${way}: ${injected(matrix, n, way)}`);
  }
}

function all(matrix: Matrix): number[] {
  return matrix.boots.map((_, i) => i);
}

function pick(matrix: Matrix, boots: number[]): Matrix {
  return {
    boots: boots.map((i) => matrix.boots[i]!),
    metrics: new Map([...matrix.metrics].map(([name, row]) => [name, boots.map((i) => row[i]!)])),
  };
}

function kdelta(
  baseOf: Matrix,
  headOf: Matrix,
  a: number[],
  b: number[],
  withHistory: boolean,
  deterministic: boolean,
  from: number[] = all(baseOf),
): string[] {
  const used = new Set(baseOf === headOf ? [...a, ...b] : a);
  const rest = from.filter((i) => !used.has(i));
  const history = withHistory && rest.length > 0 ? [pick(baseOf, rest)] : [];
  return judge({ base: pick(baseOf, a), head: pick(headOf, b), history, registry, deterministic })
    .deltas.filter(isReported)
    .map((delta) => delta.metric);
}

function falseShare(matrix: Matrix, splits: [number[], number[]][], rule: Rule): string {
  return falseShareOf(splits, (a, b) => rule(pick(matrix, a), pick(matrix, b)));
}

function falseShareOf(splits: [number[], number[]][], reports: (a: number[], b: number[]) => string[]): string {
  let any = 0;
  let total = 0;
  for (const [a, b] of splits) {
    const { length } = reports(a, b);
    if (length > 0) any++;
    total += length;
  }
  return `${((100 * any) / splits.length).toFixed(1)} % (${(total / splits.length).toFixed(2)})`;
}

function recall(splits: [number[], number[]][], known: string[], reports: (a: number[], b: number[]) => string[]) {
  let hits = 0;
  for (const [a, b] of splits) {
    const found = new Set(reports(a, b));
    hits += known.filter((name) => found.has(name)).length;
  }
  return (hits / splits.length / known.length).toFixed(3);
}

function injected(matrix: Matrix, n: number, way: 'multiplied' | 'added'): string {
  const random = seeded(7);
  return [1, 1.5, 2]
    .map((factor) => {
      let tried = 0;
      let found = 0;
      for (const [a, b] of selfSplits(all(matrix), n, 20, seeded(5))) {
        const [baseBoots, headBoots] = [pick(matrix, a), pick(matrix, b)];
        for (const delta of judge({ base: baseBoots, head: headBoots, registry }).deltas) {
          if (delta.detectablePct === null || (!delta.kpi && random() > 0.15)) continue;
          const share = (factor * delta.detectablePct) / 100;
          const metrics = new Map(headBoots.metrics);
          metrics.set(
            delta.metric,
            headBoots.metrics.get(delta.metric)!.map((value) => {
              if (value === null) return null;
              return way === 'added' ? value + share * Math.abs(delta.base.mean!) : value * (1 + share);
            }),
          );
          const after = judge({ base: baseBoots, head: { boots: headBoots.boots, metrics }, registry });
          tried++;
          if (isReported(after.deltas.find((other) => other.metric === delta.metric)!)) found++;
        }
      }
      return `${factor} × ${((100 * found) / Math.max(1, tried)).toFixed(0)} % of ${tried}`;
    })
    .join(', ');
}
