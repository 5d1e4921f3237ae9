import type { CommitNode } from '@kdelta/bisect';

/** A simulated history and host: nothing here is measured. */
export interface World {
  commits: CommitNode[];
  good: string;
  bad: string;
  /** Commits that carry a step. */
  culprits: string[];
  untestable: Set<string>;
  /** One boot of a commit; σ is 1 % of the level. */
  boot(sha: string): number;
}

export type NoiseName = 'gauss' | 't3' | 'lognormal' | 'outliers' | 'bimodal' | 'drift';

export interface WorldOptions {
  seed: number;
  commits: number;
  /** Step in standard deviations of a boot (of its core, for outliers and drift). */
  d: number;
  noise?: NoiseName;
  /** Second step of the same size. */
  steps?: 0 | 1 | 2;
  /** Share of untestable commits, in clusters of 8 on average. */
  untestable?: number;
  graph?: 'line' | 'kernel';
  /** On a kernel-like graph: culprits on side branches only. */
  onSide?: boolean;
}

export function makeWorld(options: WorldOptions): World {
  const random = randomSource(options.seed);
  const commits = options.graph === 'kernel' ? kernelLike(options.commits, random) : line(options.commits);
  const bad = commits[commits.length - 1]!.sha;
  const parents = new Map(commits.map((c) => [c.sha, c.parents]));
  const main = new Set<string>();
  for (let at: string | undefined = bad; at !== undefined && at !== 'good'; at = parents.get(at)?.[0]) main.add(at);
  const eligible = options.onSide === true ? commits.filter((c) => !main.has(c.sha)) : commits;
  const pick = () => eligible[Math.floor(random.uniform() * eligible.length)]!.sha;
  const culprits = Array.from({ length: options.steps ?? 1 }, pick);
  const affected = culprits.map((c) => descendants(commits, c));
  const untestable = clusters(commits, options.untestable ?? 0, random);
  const noise = noiseSource(options.noise ?? 'gauss', random);
  return {
    commits,
    good: 'good',
    bad,
    culprits,
    untestable,
    boot(sha) {
      const steps = affected.reduce((n, set) => n + (set.has(sha) ? 1 : 0), 0);
      return 1000 + 10 * (options.d * steps + noise());
    },
  };
}

function line(n: number): CommitNode[] {
  return Array.from({ length: n }, (_, i) => ({ sha: `c${i}`, parents: [i === 0 ? 'good' : `c${i - 1}`] }));
}

/** A main line that merges topic branches, which merge sub-branches, which merge theirs: three deep. */
function kernelLike(n: number, random: RandomSource): CommitNode[] {
  const commits: CommitNode[] = [];
  const add = (...parents: string[]) => {
    const sha = `c${commits.length}`;
    commits.push({ sha, parents });
    return sha;
  };
  const branch = (from: string, length: number, depth: number): string => {
    let at = from;
    for (let i = 0; i < length; i++) {
      if (depth < 3 && random.uniform() < 0.12) {
        const topic = branch(at, 2 + Math.floor(random.uniform() * [24, 12, 6][depth]!), depth + 1);
        at = add(at, topic);
      } else at = add(at);
    }
    return at;
  };
  let at = 'good';
  while (commits.length < n) at = branch(at, 1, 0);
  return commits;
}

function descendants(commits: CommitNode[], culprit: string): Set<string> {
  const set = new Set([culprit]);
  for (const c of commits) if (c.parents.some((p) => set.has(p))) set.add(c.sha);
  return set;
}

function clusters(commits: CommitNode[], share: number, random: RandomSource): Set<string> {
  const set = new Set<string>();
  const last = commits.length - 1;
  while (set.size < share * commits.length) {
    const from = Math.floor(random.uniform() * last);
    const length = 1 + Math.floor(-8 * Math.log(1 - random.uniform()));
    for (let i = from; i < Math.min(last, from + length); i++) set.add(commits[i]!.sha);
  }
  return set;
}

/** Noise with standard deviation 1, but for outliers (core 1) and drift (1, plus a walk of 1). */
function noiseSource(name: NoiseName, random: RandomSource): () => number {
  const z = random.normal;
  let walk = z();
  const PHI = 0.98;
  switch (name) {
    case 'gauss':
      return z;
    case 't3':
      return () => z() / Math.sqrt(z() ** 2 + z() ** 2 + z() ** 2);
    case 'lognormal': {
      const sd = Math.sqrt((Math.exp(0.25) - 1) * Math.exp(0.25));
      return () => (Math.exp(0.5 * z()) - Math.exp(0.125)) / sd;
    }
    case 'outliers':
      return () => z() + (random.uniform() < 0.05 ? (random.uniform() < 0.5 ? 10 : -10) : 0);
    case 'bimodal':
      // two modes three core deviations apart, 70 : 30; variance 1 = s² (1 + 0.21 · 9)
      return () => ((random.uniform() < 0.3 ? 2.1 : -0.9) + z()) / Math.sqrt(2.89);
    case 'drift':
      return () => {
        walk = PHI * walk + Math.sqrt(1 - PHI * PHI) * z();
        return walk + z();
      };
  }
}

export interface RandomSource {
  uniform: () => number;
  normal: () => number;
}

/** mulberry32 (Ettinger 2017) and Box–Muller: the same numbers on every machine. */
export function randomSource(seed: number): RandomSource {
  let a = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
  const uniform = () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return { uniform, normal: () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform()) };
}
