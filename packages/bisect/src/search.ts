import { BisectError } from './errors.ts';
import { buildGraph, type RangeGraph } from './graph.ts';
import { inseparableGroups } from './groups.ts';
import type { LevelTables } from './levels.ts';
import { computePosterior, type Posterior } from './posterior.ts';
import type { Observation, SearchEvent, SearchInput, SearchRecord, Sha } from './types.ts';

/** A search in memory: its plain data (`input`, `events`) and what is derived from them. */
export interface Search {
  readonly input: SearchInput;
  readonly events: SearchEvent[];
  readonly graph: RangeGraph;
  /** Prior weight per commit of the graph, summing to 1. */
  readonly prior: Float64Array;
  /** Graph indices: commits that can't be tested, commits with boots (−1 is the good end). */
  readonly untestable: Set<number>;
  readonly observed: Map<number, number>;
  /** Boots that count against the budget, and the budget. */
  spent: number;
  budget: number;
  endUntestable: Sha | null;
  /** Graph index of the commit that stands for the kernel of `sha`: −1 for good. Throws KD_BISECT_UNKNOWN_COMMIT. */
  kernelCommit(sha: Sha): number;
  /** Chance that a commit can be tested, lower near commits that couldn't: 1 − e^(−distance/15). */
  likelyTestable(commit: number): number;
  groups(): Int32Array;
  /** Tables kept between posteriors: derived data. */
  tables(metric: number): LevelTables;
  posterior(): Posterior;
}

/**
 * Starts a search over `good..bad`. Throws KD_BISECT_GOOD_IS_BAD, KD_BISECT_UNKNOWN_COMMIT (bad not in the range),
 * KD_BISECT_NOT_A_GRAPH, KD_BISECT_BAD_OPTION.
 */
export function createSearch(input: SearchInput): Search {
  if (input.good === input.bad)
    throw new BisectError('KD_BISECT_GOOD_IS_BAD', `good and bad are the same commit ${input.good}: name two`);
  checkOptions(input);
  const graph = buildGraph(input.commits, input.good, input.bad);
  const standsFor = identicalKernels(graph, input);
  const cache: { posterior: Posterior | null; groups: Int32Array | null } = { posterior: null, groups: null };
  const tables: LevelTables[] = [];
  const search: Search = {
    input,
    events: [],
    graph,
    prior: priorOf(graph, input, standsFor),
    untestable: new Set(),
    observed: new Map(),
    spent: 0,
    budget: input.budget ?? 200,
    endUntestable: null,
    kernelCommit(sha) {
      if (sha === input.good) return -1;
      const i = graph.index.get(sha);
      if (i === undefined)
        throw new BisectError('KD_BISECT_UNKNOWN_COMMIT', `commit ${sha} is not in the range of this bisect`);
      return standsFor[i]!;
    },
    likelyTestable(commit) {
      let nearest = Number.POSITIVE_INFINITY;
      for (const u of search.untestable) nearest = Math.min(nearest, Math.abs(u - commit));
      return nearest === Number.POSITIVE_INFINITY ? 1 : 1 - Math.exp(-nearest / 15);
    },
    groups() {
      cache.groups ??= inseparableGroups(graph, search.untestable);
      return cache.groups;
    },
    tables(metric) {
      tables[metric] ??= { kept: null };
      return tables[metric];
    },
    posterior() {
      cache.posterior ??= computePosterior(search);
      return cache.posterior;
    },
  };
  caches.set(search, cache);
  return search;
}

const caches = new WeakMap<Search, { posterior: Posterior | null; groups: Int32Array | null }>();

/**
 * Adds boots of one commit. Throws KD_BISECT_UNKNOWN_COMMIT, and KD_BISECT_BAD_VALUE for a number that is not finite,
 * a binary outcome other than 0 and 1, or a vector of the wrong length; the search is then unchanged.
 */
export function observe(search: Search, observation: Observation): void {
  const commit = search.kernelCommit(observation.sha);
  for (const value of observation.values) checkValue(search.input, value);
  search.events.push({ ...observation, kind: 'observe' });
  search.observed.set(commit, (search.observed.get(commit) ?? 0) + observation.values.length);
  if (observation.stored !== true) search.spent += observation.values.length;
  forget(search);
}

/** Marks a commit that can't be built or booted. It stays a candidate; it won't be probed. */
export function untestable(search: Search, sha: Sha): void {
  search.events.push({ kind: 'untestable', sha });
  if (sha === search.input.good || sha === search.input.bad) {
    search.endUntestable = sha;
    return;
  }
  const i = search.graph.index.get(sha);
  if (i === undefined)
    throw new BisectError('KD_BISECT_UNKNOWN_COMMIT', `commit ${sha} is not in the range of this bisect`);
  search.untestable.add(i);
  forget(search);
}

/** Sets the number of boots that may be spent (those already spent count). */
export function setBudget(search: Search, budget: number): void {
  if (!(budget >= 1)) throw new BisectError('KD_BISECT_BAD_OPTION', `budget ${budget} must be at least 1 boot`);
  search.events.push({ kind: 'budget', budget });
  search.budget = budget;
}

/** The search as plain data. */
export function record(search: Search): SearchRecord {
  return { version: 1, input: search.input, events: [...search.events] };
}

/** The search that a record describes. Throws what createSearch, observe and untestable throw. */
export function replay(from: SearchRecord): Search {
  const search = createSearch(from.input);
  for (const event of from.events) {
    if (event.kind === 'observe') {
      observe(search, event);
    } else if (event.kind === 'untestable') untestable(search, event.sha);
    else setBudget(search, event.budget);
  }
  return search;
}

function forget(search: Search): void {
  const cache = caches.get(search)!;
  cache.posterior = null;
  cache.groups = null;
}

function checkOptions(input: SearchInput): void {
  const c = input.certainty ?? 0.95;
  if (!(c > 0.5 && c < 1))
    throw new BisectError('KD_BISECT_BAD_OPTION', `certainty ${c} must lie between 0.5 and 1, e.g. 0.95`);
  if (!((input.budget ?? 200) >= 1))
    throw new BisectError('KD_BISECT_BAD_OPTION', `budget ${input.budget} must be at least 1 boot`);
  const noise = input.noise;
  if (noise !== undefined && !(noise.sd > 0 && noise.df >= 0 && (noise.buildSd ?? 0) >= 0))
    throw new BisectError('KD_BISECT_BAD_OPTION', 'noise needs sd > 0 (relative), df >= 0 and buildSd >= 0');
}

function checkValue(input: SearchInput, value: number | (number | null)[]): void {
  if (input.metrics !== undefined) {
    if (!Array.isArray(value) || value.length !== input.metrics.length)
      throw new BisectError('KD_BISECT_BAD_VALUE', `a boot needs ${input.metrics.length} numbers: ${input.metrics}`);
    if (value.some((v) => v !== null && !Number.isFinite(v)))
      throw new BisectError('KD_BISECT_BAD_VALUE', `${value} holds something that is not a finite number`);
    return;
  }
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw new BisectError('KD_BISECT_BAD_VALUE', `${value} is not a finite number`);
  if (input.kind === 'binary' && value !== 0 && value !== 1)
    throw new BisectError('KD_BISECT_BAD_VALUE', `${value} must be 0 (good) or 1 (bad)`);
}

/** Per commit the one that stands for its kernel: with the same image as its only parent, it's the parent's. */
function identicalKernels(graph: RangeGraph, input: SearchInput): Int32Array {
  const standsFor = Int32Array.from({ length: graph.size }, (_, i) => i);
  const keys = input.identical;
  if (keys === undefined) return standsFor;
  const parentsOf = new Map(input.commits.map((c) => [c.sha, c.parents]));
  for (let i = 0; i < graph.size - 1; i++) {
    const sha = graph.shas[i]!;
    const key = keys[sha];
    const parents = parentsOf.get(sha) ?? [];
    if (key === undefined || parents.length !== 1 || keys[parents[0]!] !== key) continue;
    if (parents[0] === input.good) standsFor[i] = -1;
    else if (graph.parents[i]!.length === 1) standsFor[i] = standsFor[graph.parents[i]![0]!]!;
  }
  return standsFor;
}

/** Weight of a commit whose image equals its parent's: as good as none, but never zero (a key may be wrong). */
const SAME_IMAGE = 1e-6;

function priorOf(graph: RangeGraph, input: SearchInput, standsFor: Int32Array): Float64Array {
  const prior = new Float64Array(graph.size);
  let sum = 0;
  for (let i = 0; i < graph.size; i++) {
    const given = input.prior?.[graph.shas[i]!] ?? 1;
    prior[i] = Math.max(given, 1e-4) * (standsFor[i] === i ? 1 : SAME_IMAGE);
    sum += prior[i]!;
  }
  return prior.map((p) => p / sum);
}
