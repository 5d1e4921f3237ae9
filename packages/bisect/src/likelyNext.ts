import { isAncestor } from './graph.ts';
import { next } from './next.ts';
import { observe, record, replay, type Search } from './search.ts';
import type { BootValue, NextOptions, Probe, Sha } from './types.ts';

/**
 * The commits that would be booted after `probes`, whose boots aren't there yet: what `next` says when they show what
 * they would under each of a few likely culprits. Kernels to build while hosts are busy. Commits of `built` are left out.
 */
export function likelyNext(search: Search, probes: Probe[], options: NextOptions = {}): Sha[] {
  const { graph, input } = search;
  const { mass } = search.posterior();
  const total = mass.reduce((a, b) => a + b, 0);
  const probed = new Set(probes.map((p) => p.sha));
  const inside = probes.filter((p) => p.sha !== input.good && p.sha !== input.bad).length;
  const found = new Set<Sha>();
  // Culprits at the middles of the stretches that the probes cut the posterior into.
  for (let k = 0; k <= inside; k++) {
    let culprit = 0;
    for (let sum = mass[0]!; sum < (total * (k + 0.5)) / (inside + 1) && culprit < graph.size - 1; )
      sum += mass[++culprit]!;
    const imagined = replay(record(search));
    for (const { sha, boots } of probes) {
      const commit = graph.index.get(sha);
      const isNew = commit !== undefined && isAncestor(graph, culprit, commit);
      const value = levelOf(search, isNew);
      if (value !== null)
        observe(imagined, { sha, values: Array.from({ length: boots }, () => value), ...last(search) });
    }
    const step = next(imagined, options);
    if (step.kind === 'done' || step.kind === 'refused') continue;
    for (const p of step.probes) if (!probed.has(p.sha) && options.built?.has(p.sha) !== true) found.add(p.sha);
  }
  return [...found];
}

/** A boot as that end shows it: the median of each metric (binary: 0 or 1). Without boots, levels a step apart. */
function levelOf(search: Search, isNew: boolean): BootValue | null {
  const { input } = search;
  if (input.kind === 'binary') return isNew ? 1 : 0;
  const end = isNew ? input.bad : input.good;
  const values = search.events.flatMap((e) => (e.kind === 'observe' && e.sha === end ? e.values : []));
  if (values.length === 0) return input.metrics === undefined ? (isNew ? 1.1 : 1) : null;
  const median = (v: number[]) => v.sort((a, b) => a - b)[v.length >> 1] ?? null;
  if (input.metrics === undefined) return median(values as number[]);
  return input.metrics.map((_, m) =>
    median((values as (number | null)[][]).map((v) => v[m] ?? null).filter((v) => v !== null)),
  );
}

function last(search: Search) {
  const e = search.events.findLast((e) => e.kind === 'observe');
  return e?.kind === 'observe' ? { session: e.session, host: e.host } : {};
}
