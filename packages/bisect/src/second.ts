import { isAncestor } from './graph.ts';
import { medianOf, roughLevels } from './levels.ts';
import { type BootTable, bootTable, levelData, type MetricData, partition, takeDriftOut } from './posterior.ts';
import { createSearch, observe, type Search, untestable } from './search.ts';
import type { SecondStep, Sha } from './types.ts';

/**
 * A second step inside the range. With one step every kernel shows the old or the new level; with two, those between
 * them show a third. Compared are the best fits of one and of two steps over the classes that the boots tell apart:
 *
 *   gain = (SSW₁ − SSW₂) / 2σ²,  SSW: squares around each group's own mean, σ from boots of equal kernels
 *
 * From `SUSPECTED` on (`HINTED` before a culprit is named) the group with the fewest boots gets more; from `CLEAR` on the
 * search goes on at one step, between an end and the middle, and the other one is announced with the range that holds it.
 */
export type StepCount =
  | { kind: 'one' | 'suspected'; gain: number; sha?: Sha }
  | { kind: 'two'; search: Search; second: SecondStep };

export const SUSPECTED = 4.5;
export const HINTED = 2;
const CLEAR = 8;
/** The second step must be larger by this much to be searched first. */
const CLEARLY_LARGER = 1.4;
/** A third level nearer than this to another one, in σ, isn't worth a step. */
const NEAR = 0.8;
/** Nor one nearer than this share of the whole step: levels creep a little from commit to commit. */
const NEAR_SHARE = 0.2;

/** How many steps the boots show; with two, the search around one of them; in doubt, the commit to boot. */
export function countSteps(search: Search): StepCount {
  const one = { kind: 'one', gain: 0 } as const;
  if (search.input.kind === 'binary' || search.observed.size < 4) return one;
  const table = bootTable(search);
  const data = levelData(search, table, 0);
  if (!data.kernel.includes(0) || !data.kernel.includes(1)) return one;
  takeDriftOut(data);
  const fit = fitTwoSteps(search, table, data);
  if (fit === null) return one;
  const { graph, input } = search;
  const middle = graph.shas[table.commits[fit.middle]!]!;
  if (fit.gain < CLEAR) {
    const fewest = fit.boots.indexOf(Math.min(...fit.boots));
    return {
      kind: fit.gain < SUSPECTED ? 'one' : 'suspected',
      gain: fit.gain,
      sha: [input.good, middle, input.bad][fewest]!,
    };
  }
  const [low, level, high] = fit.levels;
  const levelPct = 100 * (data.log ? Math.expm1(level - low) : (level - low) / Math.abs(low || 1));
  const older = narrow(search, input.good, middle);
  const newer = narrow(search, middle, input.bad);
  const first = Math.abs(high - level) <= CLEARLY_LARGER * Math.abs(level - low);
  const [chosen, other] = first ? [older, newer] : [newer, older];
  return { kind: 'two', search: chosen, second: { ...rangeOfStep(other), levelPct } };
}

/**
 * Probability of every commit of the range (good excluded) that it is the culprit; the missing rest is "no step".
 * With two steps it is that of the step being searched.
 */
export function posterior(search: Search): Map<Sha, number> {
  const count = countSteps(search);
  const { graph, posterior: now } = count.kind === 'two' ? count.search : search;
  const { mass } = now();
  return new Map(search.graph.shas.map((sha) => [sha, mass[graph.index.get(sha) ?? -1] ?? 0]));
}

/** The shortest stretch of the search's commits that holds 98 % of its posterior. */
function rangeOfStep(search: Search): { after: Sha; upto: Sha } {
  const { mass, none } = search.posterior();
  const shas = search.graph.shas;
  const tail = 0.01 * (1 - none);
  let from = 0;
  let below = 0;
  while (from < shas.length - 1 && below + mass[from]! < tail) below += mass[from++]!;
  let to = shas.length - 1;
  let above = 0;
  while (to > from && above + mass[to]! < tail) above += mass[to--]!;
  return { after: from === 0 ? search.input.good : shas[from - 1]!, upto: shas[to]! };
}

interface TwoSteps {
  gain: number;
  /** The kernel between both steps with the most boots. */
  middle: number;
  levels: [low: number, level: number, high: number];
  /** Boots before, between and after the steps. */
  boots: number[];
}

function fitTwoSteps(search: Search, table: BootTable, data: MetricData): TwoSteps | null {
  const { isNew } = partition(search, table.commits);
  const kernels = table.commits.length;
  const classes = isNew.length / kernels;
  const rough = roughLevels(data);
  const sigma = withinKernels(data);
  const [bottom, top] = [Math.min(rough.mu0, rough.mu1) - 2.5 * sigma, Math.max(rough.mu0, rough.mu1) + 2.5 * sigma];
  const n = new Float64Array(kernels);
  const s = new Float64Array(kernels);
  let squares = 0;
  for (let i = 0; i < data.y.length; i++) {
    // wild boots are cut, distances are taken from the old level so that squares don't cancel
    const y = Math.min(top, Math.max(bottom, data.y[i]!)) - rough.mu0;
    n[data.kernel[i]!]! += 1;
    s[data.kernel[i]!]! += y;
    squares += y * y;
  }
  const explained = (count: number, sum: number) => (count === 0 ? 0 : (sum * sum) / count);
  let one = Number.POSITIVE_INFINITY;
  let two = Number.POSITIVE_INFINITY;
  let found: TwoSteps | null = null;
  for (let a = 0; a < classes; a++) {
    for (let b = 0; b < classes; b++) {
      const count = [0, 0, 0];
      const sum = [0, 0, 0];
      let middle = -1;
      let nested = true;
      for (let k = 0; k < kernels && nested; k++) {
        const [newA, newB] = [isNew[a * kernels + k]!, isNew[b * kernels + k]!];
        if (newB > newA) nested = false;
        const group = newA + newB;
        count[group]! += n[k]!;
        sum[group]! += s[k]!;
        if (group === 1 && (middle < 0 || n[k]! > n[middle]!)) middle = k;
      }
      if (!nested) continue;
      const ssw =
        squares - explained(count[0]!, sum[0]!) - explained(count[1]!, sum[1]!) - explained(count[2]!, sum[2]!);
      if (a === b && ssw < one) one = ssw;
      if (count[1]! < 3 || ssw >= two) continue;
      const [low, level, high] = [sum[0]! / count[0]!, sum[1]! / count[1]!, sum[2]! / count[2]!];
      const least = Math.max(NEAR * sigma, NEAR_SHARE * Math.abs(high - low));
      if (Math.min(Math.abs(level - low), Math.abs(high - level)) < least) continue;
      two = ssw;
      found = { gain: 0, middle, levels: [low + rough.mu0, level + rough.mu0, high + rough.mu0], boots: count };
    }
  }
  return found === null ? null : { ...found, gain: (one - two) / (2 * sigma * sigma) };
}

/** Spread of boots around their own kernel's median, with the history; made larger while few boots say so. */
function withinKernels(data: MetricData): number {
  const boots = new Map<number, number[]>();
  for (let i = 0; i < data.y.length; i++)
    boots.set(data.kernel[i]!, [...(boots.get(data.kernel[i]!) ?? []), data.y[i]!]);
  const residuals: number[] = [];
  let freedom = 0;
  for (const values of boots.values()) {
    if (values.length < 2) continue;
    const centre = medianOf(Float64Array.from(values).sort());
    for (const v of values) residuals.push(v - centre);
    freedom += values.length - 1;
  }
  const cut = 3 * 1.4826 * medianOf(Float64Array.from(residuals, Math.abs).sort());
  const squares = residuals.reduce((s, r) => s + Math.min(Math.abs(r), cut) ** 2, 0);
  const known = data.sd ** 2 + data.buildSd ** 2;
  const trust = freedom + data.df;
  const variance = (squares + data.df * known) / Math.max(1, trust);
  return Math.max(Math.sqrt(Math.max(variance, known) * (1 + 4 / Math.max(1, trust))), data.floor * 10);
}

/** The search between two kernels of the old one, with the boots that belong there. */
function narrow(search: Search, good: Sha, bad: Sha): Search {
  const { graph, input } = search;
  const goodIndex = good === input.good ? -1 : graph.index.get(good)!;
  const badIndex = graph.index.get(bad)!;
  const within = (i: number) => isAncestor(graph, i, badIndex) && !(goodIndex >= 0 && isAncestor(graph, i, goodIndex));
  const parentsOf = new Map(input.commits.map((c) => [c.sha, c.parents]));
  const commits = graph.shas.filter((_, i) => within(i)).map((sha) => ({ sha, parents: parentsOf.get(sha) ?? [] }));
  const narrowed = createSearch({ ...input, commits, good, bad, budget: search.budget, direction: undefined });
  for (const event of search.events) {
    if (event.kind === 'untestable') {
      const i = graph.index.get(event.sha);
      if (i !== undefined && within(i)) untestable(narrowed, event.sha);
      if (event.sha === good || event.sha === bad) narrowed.endUntestable = event.sha;
    }
    if (event.kind !== 'observe') continue;
    const i = search.kernelCommit(event.sha);
    if (event.sha === good || (i >= 0 && within(i))) observe(narrowed, event);
  }
  narrowed.spent = search.spent;
  return narrowed;
}
