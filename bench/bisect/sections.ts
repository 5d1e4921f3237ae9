import { readFileSync } from 'node:fs';
import { createSearch, next, observe, type SearchInput, untestable } from '@kdelta/bisect';
import { kept } from './kept.ts';
import { bayesect, classic, pinpoint, sequential } from './rivals.ts';
import { makeWorld, type NoiseName, randomSource, type World, type WorldOptions } from './world.ts';

/** Rows of one table; every number is of simulated boots, but for `real`. */
export type Rows = Record<string, string | number>[];

const STEPS = [1, 1.5, 2, 3];
const NOISES: NoiseName[] = ['gauss', 't3', 'lognormal', 'outliers', 'bimodal', 'drift'];

/** By the name of the table and, after a space, of its part: parts may run side by side. */
export const SECTIONS: Record<string, (seeds: number) => Rows> = {
  ...parts('accuracy', STEPS, (d, seeds) => [accuracy('kdelta', { commits: 1000, d }, seeds)]),
  ...parts('history', STEPS, (d, seeds) => [accuracy('kdelta, history and pair', { commits: 1000, d }, seeds, 5)]),
  ...parts('rivals', STEPS, (d, seeds) => [
    rival('git bisect, 3 boots', classic(3), d, seeds),
    rival('git bisect, 9 boots', classic(9), d, seeds),
    rival('per-step sequential test', sequential, d, seeds),
    rival('Pinpoint', pinpoint, d, Math.ceil(seeds / 4)),
    rival('git_bayesect', bayesect, d, Math.ceil(seeds / 4)),
  ]),
  ...parts('calibration', NOISES, calibration),
  null: (seeds) => [nullRange(seeds)],
  two: (seeds) => [twoSteps(seeds)],
  untestable: (seeds) => [clustered(seeds)],
  graph: (seeds) => graphs(seeds),
  real: (seeds) => real(Math.min(seeds, 200)),
};

function parts<P extends string | number>(table: string, of: P[], rows: (part: P, seeds: number) => Rows) {
  return Object.fromEntries(of.map((part) => [`${table} ${part}`, (seeds: number) => rows(part, seeds)]));
}

interface Outcome {
  named: boolean;
  right: boolean;
  contains: boolean;
  refused: boolean;
  boots: number;
  ends: number;
  second: boolean;
  drift: boolean;
}

function run(
  world: World,
  more: Partial<SearchInput>,
  watch?: (search: ReturnType<typeof createSearch>) => void,
): Outcome {
  const search = createSearch({ ...world, verify: false, budget: 400, ...more });
  return follow(search, world, watch);
}

function follow(
  search: ReturnType<typeof createSearch>,
  world: World,
  watch?: (search: ReturnType<typeof createSearch>) => void,
): Outcome {
  let ends = 0;
  for (;;) {
    const step = next(search);
    if (step.kind === 'done' || step.kind === 'refused') {
      const culprit = step.kind === 'done' ? step.culprit : null;
      return {
        named: culprit !== null,
        right: culprit !== null && world.culprits.includes(culprit),
        contains: step.kind === 'done' && step.credible.some((c) => world.culprits.includes(c.sha)),
        refused: step.kind === 'refused',
        boots: search.spent,
        ends,
        second: step.kind === 'done' && step.second !== null,
        drift: step.kind === 'done' && step.drift,
      };
    }
    for (const probe of step.probes) {
      if (world.untestable.has(probe.sha)) {
        untestable(search, probe.sha);
        continue;
      }
      const values = Array.from({ length: probe.boots }, () => world.boot(probe.sha));
      if (step.kind === 'confirm-ends') ends += probe.boots;
      observe(search, { sha: probe.sha, values, verify: step.kind === 'verify' });
    }
    watch?.(search);
  }
}

function accuracy(name: string, options: Omit<WorldOptions, 'seed'>, seeds: number, pair = 0): Rows[number] {
  const outcomes = kept(`${name}, d ${options.d}`, seeds, (seed) => {
    const world = makeWorld({ ...options, seed });
    if (pair === 0) return run(world, { budget: 1000 });
    const search = createSearch({ ...world, verify: false, budget: 1000, noise: { sd: 0.01, df: 20 } });
    for (const sha of [world.good, world.bad])
      observe(search, { sha, values: Array.from({ length: pair }, () => world.boot(sha)), stored: true });
    return follow(search, world);
  });
  const right = share(outcomes, (o) => o.right);
  const boots = average(outcomes.map((o) => o.boots));
  const searching = average(outcomes.map((o) => o.boots - o.ends));
  const limit = limitOf(options.commits, options.d);
  return {
    d: options.d,
    searcher: name,
    seeds,
    'right %': percent(right),
    'Wilson low %': percent(wilsonLow(right, seeds)),
    'search boots': round(searching),
    'all boots': round(boots),
    limit: round(limit),
    'search/limit': round(searching / limit, 2),
    'all/limit': round(boots / limit, 2),
  };
}

function rival(name: string, searcher: ReturnType<typeof classic>, d: number, seeds: number): Rows[number] {
  const answers = kept(`${name}, d ${d}`, seeds, (seed) => {
    const world = makeWorld({ seed, commits: 1000, d });
    const answer = searcher(world, d);
    return { ...answer, right: answer.culprit !== null && world.commits[answer.culprit]!.sha === world.culprits[0] };
  });
  const right = share(answers, (a) => a.right);
  const boots = average(answers.map((a) => a.boots));
  const limit = limitOf(1000, d);
  return {
    d,
    searcher: name,
    seeds,
    'right %': percent(right),
    'Wilson low %': percent(wilsonLow(right, seeds)),
    'all boots': round(boots),
    limit: round(limit),
    'all/limit': round(boots / limit, 2),
  };
}

/** One search to 0.99 per seed; where it would have stopped at 0.8 and 0.95 is noted on the way. */
function calibration(noise: NoiseName, seeds: number): Rows {
  const stops = [0.8, 0.95, 0.99];
  type Answer = { stated: number; right: boolean; boots: number };
  const searches = kept(`calibration, ${noise}`, seeds, (seed) => {
    const world = makeWorld({ seed, commits: 1000, d: 2, noise });
    const answers = stops.map((): Answer | null => null);
    run(world, { certainty: 0.99, budget: 300 }, (search) => {
      if (!search.observed.has(-1) || !search.observed.has(search.graph.size - 1)) return;
      const { mass, none } = search.posterior();
      if (none > 0.015) return;
      let best = 0;
      for (let b = 0; b < mass.length; b++) if (mass[b]! > mass[best]!) best = b;
      stops.forEach((stop, i) => {
        if (mass[best]! < stop) return;
        const right = search.graph.shas[best] === world.culprits[0];
        answers[i] ??= { stated: mass[best]!, right, boots: search.spent };
      });
    });
    return answers;
  });
  return stops.map((stop, i) => {
    const answers = searches.map((s) => s[i]).filter((a): a is Answer => a != null);
    const stated = average(answers.map((a) => a.stated));
    const right = share(answers, (a) => a.right);
    return {
      noise,
      stop,
      seeds,
      answers: answers.length,
      'stated %': percent(stated),
      'right %': percent(right),
      'stated − right': round(100 * (stated - right), 1),
      'all boots': round(average(answers.map((a) => a.boots))),
    };
  });
}

function nullRange(seeds: number): Rows[number] {
  const outcomes = kept('no step', seeds, (seed) =>
    run(makeWorld({ seed, commits: 1000, d: 2, steps: 0 }), { budget: 200 }),
  );
  return {
    seeds,
    'culprit named %': percent(share(outcomes, (o) => o.named)),
    'refused %': percent(share(outcomes, (o) => o.refused)),
    'all boots': round(average(outcomes.map((o) => o.boots))),
  };
}

function twoSteps(seeds: number): Rows[number] {
  const outcomes = kept('two steps', seeds, (seed) =>
    run(makeWorld({ seed, commits: 1000, d: 2, steps: 2 }), { verify: true }),
  );
  return {
    seeds,
    'one of the two %': percent(share(outcomes, (o) => o.right)),
    'a third %': percent(share(outcomes, (o) => o.named && !o.right)),
    'second announced %': percent(share(outcomes, (o) => o.second)),
    'both %': percent(share(outcomes, (o) => o.second && o.right)),
    'all boots': round(average(outcomes.map((o) => o.boots))),
  };
}

function clustered(seeds: number): Rows[number] {
  const outcomes = kept('untestable', seeds, (seed) =>
    run(makeWorld({ seed, commits: 1000, d: 2, untestable: 0.15 }), {}),
  );
  return {
    seeds,
    'answer contains the culprit %': percent(share(outcomes, (o) => o.contains)),
    'named exactly %': percent(share(outcomes, (o) => o.right)),
    'all boots': round(average(outcomes.map((o) => o.boots))),
  };
}

function graphs(seeds: number): Rows {
  const kinds: [string, Partial<WorldOptions>][] = [
    ['line of 2,000', { graph: 'line' }],
    ['kernel-like, culprit anywhere', { graph: 'kernel' }],
    ['kernel-like, culprit on a side branch', { graph: 'kernel', onSide: true }],
  ];
  return kinds.map(([name, more]) => {
    const outcomes = kept(name, seeds, (seed) => run(makeWorld({ seed, commits: 2000, d: 2, ...more }), {}));
    return {
      history: name,
      seeds,
      'right %': percent(share(outcomes, (o) => o.right)),
      'all boots': round(average(outcomes.map((o) => o.boots))),
    };
  });
}

/** Chromium's own bisect job, its 158 runs handed out in random orders. */
function real(orders: number): Rows {
  const path = `${process.env.KDELTA_SHARED ?? '../shared'}/data/pinpoint/real_bisect.json`;
  let job: { culprits: string[]; runs: Record<string, Record<string, number[][]>> };
  try {
    job = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return [];
  }
  // tested commits in history's order, from the job's comparisons
  const order = ['a7d8a67a', '963cf5d3', 'a78da696', '0758686f', '1e4dd138', '4d3774dd', '04cfb2be', 'eff9a8c4'];
  const shas = order.map((short) => Object.keys(job.runs).find((sha) => sha.startsWith(short))!);
  const commits = shas.slice(1).map((sha, i) => ({ sha, parents: [shas[i]!] }));
  const outcomes = kept('real job', orders, (seed) => {
    const random = randomSource(seed);
    const left = new Map(shas.map((sha) => [sha, shuffled(Object.values(job.runs[sha]!)[0]!.flat(), random.uniform)]));
    const world: World = {
      commits,
      good: shas[0]!,
      bad: shas[7]!,
      culprits: job.culprits,
      untestable: new Set(),
      boot: (sha) => left.get(sha)!.pop() ?? left.values().next().value![0]!,
    };
    return run(world, { budget: 158, verify: true });
  });
  return [
    {
      orders,
      'right %': percent(share(outcomes, (o) => o.right)),
      'runs of 158': round(average(outcomes.map((o) => o.boots))),
    },
  ];
}

/** The limit (1−δ) log₂n / C(d) + 4 ln(1/δ)/d² for δ = 0.05; C by numerical integration of the binary-input Gaussian channel. */
function limitOf(n: number, d: number): number {
  return (0.95 * Math.log2(n)) / capacity(d) + (4 * Math.log(20)) / (d * d);
}

export function capacity(d: number): number {
  const a = d / 2;
  let lost = 0;
  const step = 0.01;
  for (let z = -8; z <= 8; z += step)
    lost += (step * Math.exp((-z * z) / 2) * Math.log2(1 + Math.exp(-2 * a * (z + a)))) / Math.sqrt(2 * Math.PI);
  return 1 - lost;
}

function shuffled(values: number[], uniform: () => number): number[] {
  const out = [...values];
  for (let i = out.length - 1; i > 0; i--) {
    const j = Math.floor(uniform() * (i + 1));
    [out[i], out[j]] = [out[j]!, out[i]!];
  }
  return out;
}

const average = (v: number[]) => v.reduce((a, b) => a + b, 0) / Math.max(1, v.length);
const share = <T>(v: T[], is: (one: T) => boolean) => v.filter(is).length / Math.max(1, v.length);
const round = (v: number, digits = 1) => Number(v.toFixed(digits));
const percent = (v: number) => round(100 * v, 1);

/** Lower end of Wilson's 95 % interval of a share (Wilson 1927). */
function wilsonLow(p: number, n: number): number {
  const z = 1.96;
  return (p + (z * z) / (2 * n) - z * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n))) / (1 + (z * z) / n);
}
