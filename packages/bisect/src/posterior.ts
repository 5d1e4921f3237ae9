import { type Drift, estimateDrift } from './drift.ts';
import { type FlipEvidence, flipEvidence } from './flips.ts';
import { isAncestor } from './graph.ts';
import { type LevelData, type LevelEvidence, levelEvidence, logSum, medianOf, roughLevels } from './levels.ts';
import type { Search } from './search.ts';
import type { BootValue, NoiseHistory, StepSize } from './types.ts';
import { walkEvidence } from './walk.ts';

/** What the boots so far say. Arrays are by index into `search.graph.shas`. */
export interface Posterior {
  /** Probability of each candidate; together with `none` they sum to 1. */
  mass: Float64Array;
  /** Probability that there is no step in the range. */
  none: number;
  step: StepSize | null;
  /** Log odds that a kernel's own boots show the new level (0 without boots). */
  logOdds: Map<number, number>;
  /** A drift of the host was found, and taken out. */
  drift: boolean;
  /** Log odds of the new level for further boots, by the levels as they are known now. */
  oddsOf: (values: BootValue[]) => number;
}

/** Kernel numbers of the ends in every table; probed commits follow. */
const GOOD = 0;
const BAD = 1;

/** Posterior of the search as it stands: prior × evidence of the class that a candidate falls in, over all boots. */
export function computePosterior(search: Search): Posterior {
  const { graph, prior } = search;
  const table = bootTable(search);
  const { classOf, isNew, weight } = partition(search, table.commits);
  const none = search.input.nullPrior ?? 0.5;
  const evidence =
    search.input.kind === 'binary'
      ? binaryEvidence(table, isNew, weight)
      : numberEvidence(search, table, isNew, weight);

  // within a class the prior decides, so one exponential per class does
  const total = logSum([
    ...evidence.classes.map((e, k) => Math.log(weight[k]! * (1 - none)) + e),
    Math.log(none) + evidence.none,
  ]);
  const perPrior = evidence.classes.map((e) => Math.exp(e + Math.log(1 - none) - total));
  const mass = new Float64Array(graph.size);
  for (let b = 0; b < graph.size; b++) mass[b] = prior[b]! * perPrior[classOf[b]!]!;
  return {
    mass,
    none: Math.exp(Math.log(none) + evidence.none - total),
    step: evidence.step,
    logOdds: evidence.logOdds,
    drift: evidence.drift,
    oddsOf: evidence.oddsOf,
  };
}

interface Evidence {
  classes: Float64Array;
  none: number;
  step: StepSize | null;
  logOdds: Map<number, number>;
  drift: boolean;
  oddsOf: (values: BootValue[]) => number;
}

/** Boots in rows, by kernel: 0 is good, 1 is bad, then the probed commits; `commits[k]` is the graph index (−1: good). */
export interface BootTable {
  commits: number[];
  kernel: number[];
  values: (number | null)[][];
  block: string[];
}

export function bootTable(search: Search): BootTable {
  const bad = search.graph.size - 1;
  const commits = [-1, bad];
  const kernelOf = new Map<number, number>([
    [-1, GOOD],
    [bad, BAD],
  ]);
  const table: BootTable = { commits, kernel: [], values: [], block: [] };
  for (const event of search.events) {
    if (event.kind !== 'observe') continue;
    const commit = search.kernelCommit(event.sha);
    let kernel = kernelOf.get(commit);
    if (kernel === undefined) {
      kernel = commits.length;
      kernelOf.set(commit, kernel);
      commits.push(commit);
    }
    for (const value of event.values) {
      table.kernel.push(kernel);
      table.values.push(Array.isArray(value) ? value : [value]);
      table.block.push(`${event.host ?? ''}\n${event.session ?? ''}`);
    }
  }
  return table;
}

/** Groups candidates that no boot so far tells apart: they differ in prior only. */
export function partition(search: Search, commits: number[]): Partition {
  const before = partitions.get(search);
  if (before?.commits === commits.length) return before;
  const { graph, prior } = search;
  const classOf = new Int32Array(graph.size);
  let classes = 1;
  for (let k = 2; k < commits.length; k++) {
    const row = commits[k]! * graph.words;
    const split = new Int32Array(classes * 2).fill(-1);
    classes = 0;
    for (let b = 0; b < graph.size; b++) {
      const key = classOf[b]! * 2 + ((graph.ancestry[row + (b >>> 5)]! >>> (b & 31)) & 1);
      if (split[key] === -1) split[key] = classes++;
      classOf[b] = split[key]!;
    }
  }
  const isNew = new Uint8Array(classes * commits.length);
  const weight = new Float64Array(classes);
  const seen = new Uint8Array(classes);
  for (let b = 0; b < graph.size; b++) {
    const c = classOf[b]!;
    weight[c]! += prior[b]!;
    if (seen[c] === 1) continue;
    seen[c] = 1;
    isNew[c * commits.length + BAD] = 1;
    for (let k = 2; k < commits.length; k++) isNew[c * commits.length + k] = isAncestor(graph, b, commits[k]!) ? 1 : 0;
  }
  const found = { commits: commits.length, classOf, isNew, weight };
  partitions.set(search, found);
  return found;
}

interface Partition {
  commits: number;
  classOf: Int32Array;
  isNew: Uint8Array;
  weight: Float64Array;
}

/** The last partition of a search: probed commits are only ever added. */
const partitions = new WeakMap<Search, Partition>();

function binaryEvidence(table: BootTable, isNew: Uint8Array, weight: Float64Array): Evidence {
  const runs = new Float64Array(table.commits.length);
  const bad = new Float64Array(table.commits.length);
  table.kernel.forEach((k, i) => {
    runs[k]! += 1;
    bad[k]! += table.values[i]![0]!;
  });
  const e: FlipEvidence = flipEvidence({ runs, bad }, isNew, weight);
  const width = 1.96 * Math.sqrt(e.variance0 + e.variance1);
  const share = e.new - e.old;
  const spread = Math.sqrt(Math.max(0.0025, (e.old * (1 - e.old) + e.new * (1 - e.new)) / 2));
  const logOdds = new Map<number, number>();
  const clamp = (p: number) => Math.min(0.995, Math.max(0.005, p));
  const [p0, p1] = [clamp(e.old), clamp(e.new)];
  table.commits.forEach((commit, k) => {
    if (runs[k] === 0) return;
    logOdds.set(commit, bad[k]! * Math.log(p1 / p0) + (runs[k]! - bad[k]!) * Math.log((1 - p1) / (1 - p0)));
  });
  return {
    classes: e.classes,
    none: e.none,
    step: { pct: share * 100, ci95: [(share - width) * 100, Math.min(1, share + width) * 100], d: share / spread },
    logOdds,
    drift: false,
    oddsOf: (values) =>
      values.reduce<number>((sum, v) => sum + (v === 1 ? Math.log(p1 / p0) : Math.log((1 - p1) / (1 - p0))), 0),
  };
}

/**
 * One metric: its level evidence. Several: the sum over metrics, each of which may also not step at all
 * (½ evidence + ½ evidence of one level), so that metrics without the step don't dilute those with it.
 */
function numberEvidence(search: Search, table: BootTable, isNew: Uint8Array, weight: Float64Array): Evidence {
  const metrics = search.input.metrics?.length ?? 1;
  const parts: LevelPart[] = [];
  for (let m = 0; m < metrics; m++) {
    const part = metricEvidence(search, table, m, isNew, weight);
    if (part !== null) parts.push(part);
  }
  const classes = new Float64Array(weight.length);
  let none = 0;
  const logOdds = new Map<number, number>();
  for (const part of parts) {
    none += part.levels.none;
    const mix = metrics > 1;
    for (let k = 0; k < classes.length; k++)
      classes[k]! += mix ? logSum([part.levels.classes[k]!, part.levels.none]) - Math.LN2 : part.levels.classes[k]!;
    for (const [commit, odds] of part.logOdds) logOdds.set(commit, (logOdds.get(commit) ?? 0) + odds);
  }
  parts.sort((a, b) => Math.abs(b.step.d) - Math.abs(a.step.d));
  const oddsOf = (values: BootValue[]) => parts.reduce((sum, part) => sum + part.oddsOf(values), 0);
  return { classes, none, step: parts[0]?.step ?? null, logOdds, drift: parts.some((p) => p.drift), oddsOf };
}

interface LevelPart {
  levels: LevelEvidence;
  step: StepSize;
  logOdds: Map<number, number>;
  drift: boolean;
  oddsOf: (values: BootValue[]) => number;
}

function metricEvidence(
  search: Search,
  table: BootTable,
  metric: number,
  isNew: Uint8Array,
  weight: Float64Array,
): LevelPart | null {
  const data = levelData(search, table, metric);
  if (!data.kernel.includes(GOOD) || !data.kernel.includes(BAD)) return null;
  const moved = { ...data, y: Float64Array.from(data.y) };
  takeDriftOut(moved);
  takeDriftOut(data, false);
  const levels = levelEvidence(data, isNew, weight, search.tables(metric));
  const drift = addWalk(levels, data, moved, isNew, weight);
  const logOdds = new Map<number, number>();
  const low = levels.level0;
  const high = levels.level1;
  // Student's t with 4 degrees of freedom around both levels: a plug-in, for deciding whether a commit was seen directly
  const t4 = (y: number, mu: number) => -2.5 * Math.log1p(((y - mu) / levels.sigma) ** 2 / 4);
  for (let i = 0; i < data.y.length; i++) {
    const commit = table.commits[data.kernel[i]!]!;
    logOdds.set(commit, (logOdds.get(commit) ?? 0) + t4(moved.y[i]!, high) - t4(moved.y[i]!, low));
  }
  const width = 1.96 * Math.sqrt(levels.variance0 + levels.variance1);
  const change = high - low;
  const percent = (v: number) => 100 * (data.log ? Math.expm1(v) : v / Math.abs(low || 1));
  return {
    levels,
    step: {
      pct: percent(change),
      ci95: [percent(change - width), percent(change + width)],
      d: change / levels.sigma,
    },
    logOdds,
    drift,
    oddsOf: (values) => {
      let odds = 0;
      for (const value of values) {
        const raw = Array.isArray(value) ? value[metric] : value;
        if (raw === null || raw === undefined || (data.log && raw <= 0)) continue;
        const y = data.log ? Math.log(raw) : raw;
        odds += t4(y, high) - t4(y, low);
      }
      return odds;
    },
  };
}

/** Cut of a boot for the walk's evidence, in σ beyond both levels: a wild boot is no drift. */
const WILD = 3;
/** Probability from which the host is said to drift. */
const DRIFTS = 0.9;

/** Weighs in that the host may drift (walk.ts); whether it does. Builds that differ as much as boots hide it. */
function addWalk(
  levels: LevelEvidence,
  data: MetricData,
  moved: MetricData,
  isNew: Uint8Array,
  weight: Float64Array,
): boolean {
  if (data.buildSd > 0 && data.buildSd >= data.sd) return false;
  const [low, high] = [Math.min(levels.level0, levels.level1), Math.max(levels.level0, levels.level1)];
  const cut = WILD * levels.sigma;
  const y = data.y.map((v, i) => {
    const offset = v - moved.y[i]!;
    return Math.max(low - cut, Math.min(high + cut, moved.y[i]!)) + offset;
  });
  const walk = walkEvidence({ ...data, y }, isNew);
  let drifting = 0;
  let total = 0;
  for (let k = 0; k < weight.length; k++) levels.classes[k]! += walk.classes[k]!;
  levels.none += walk.none;
  const top = levels.classes.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  for (let k = 0; k < weight.length; k++) {
    const mass = weight[k]! * Math.exp(levels.classes[k]! - top);
    total += mass;
    drifting += mass / (1 + Math.exp(-walk.odds[k]!));
  }
  return drifting > DRIFTS * total;
}

/** Subtracts the host's drift (unless not `walks`) and the blocks' offsets from data.y; twice, as labels get clearer. */
export function takeDriftOut(data: MetricData, walks = true): boolean {
  const raw = Float64Array.from(data.y);
  let drift: Drift = { offset: new Float64Array(raw.length), found: false, clear: false };
  for (let round = 0; round < 2; round++) {
    const rough = roughLevels(data);
    const gap = rough.mu1 - rough.mu0;
    const share = (i: number) => rough.isNew[data.kernel[i]!]!;
    drift = estimateDrift(
      {
        residual: raw.map((y, i) => y - rough.mu0 - share(i) * gap),
        variance: raw.map((_, i) => rough.sigma ** 2 + share(i) * (1 - share(i)) * gap * gap),
        block: data.block,
        sigma: rough.sigma,
      },
      walks,
    );
    for (let i = 0; i < raw.length; i++) data.y[i] = raw[i]! - drift.offset[i]!;
    if (!drift.found) break;
  }
  return drift.clear;
}

/** Relative spread between builds; too small to matter beside that of boots, it counts as none. */
function buildSdOf(noise: NoiseHistory | undefined): number {
  if (noise === undefined) return 0;
  const build = noise.buildSd ?? 0.0003;
  return build < 0.05 * noise.sd ? 0 : build;
}

export type MetricData = LevelData & { log: boolean; block: string[] };

/** The boots of one metric; logarithms when all are positive, so that the step is a ratio and spread is relative. */
export function levelData(search: Search, table: BootTable, metric: number): MetricData {
  const rows: number[] = [];
  for (let i = 0; i < table.values.length; i++)
    if (Number.isFinite(table.values[i]![metric] ?? Number.NaN)) rows.push(i);
  const raw = rows.map((i) => table.values[i]![metric] as number);
  const log = raw.every((v) => v > 0);
  const y = Float64Array.from(raw, (v) => (log ? Math.log(v) : v));
  const kernel = Int32Array.from(rows, (i) => table.kernel[i]!);
  const size = Math.abs(medianOf(Float64Array.from(raw, Math.abs).sort())) || 1;
  const unit = log ? 1 : size;
  const noise = search.input.noise;
  return {
    y,
    kernel,
    kernels: table.commits.length,
    good: GOOD,
    bad: BAD,
    sd: (noise?.sd ?? 0) * unit,
    df: noise?.df ?? 0,
    buildSd: buildSdOf(noise) * unit,
    floor: unit * 1e-6,
    log,
    block: rows.map((i) => table.block[i]!),
  };
}
