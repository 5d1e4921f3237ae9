import type { Delta, Verdict } from '@kdelta/stats';
import { isReported } from '@kdelta/stats';
import { z } from 'zod';

/** How the evidence of a pair is searched and sorted; the whole of it stands in the page's address. */
export const DeltaQuery = z.object({
  q: z.string().max(200).optional().describe('Part of a metric name; upper and lower case are the same'),
  program: z.string().max(100).optional().describe('The part of the metric name before the first dot'),
  verdict: z
    .string()
    .max(100)
    .regex(
      /^(regression|improvement|changed|same|inconclusive|reported)(,(regression|improvement|changed|same|inconclusive|reported))*$/,
    )
    .optional()
    .describe('Verdicts to keep, separated by commas; `reported` is all that is reported as changed'),
  flag: z.string().max(40).optional().describe('Keep what carries this flag, e.g. bimodal'),
  sort: z.enum(['weight', 'size', 'name', 'p']).optional().describe('weight: change over the least that is reported'),
  page: z.coerce.number().int().min(1).max(10_000).optional(),
});
export type DeltaQuery = z.infer<typeof DeltaQuery>;

/** True when the query can be answered from the leading deltas, without reading them all. */
export function isPlain(query: DeltaQuery): boolean {
  return !query.q && !query.program && !query.verdict && !query.flag && !query.sort && (query.page ?? 1) === 1;
}

/** The deltas that match, in the order asked for; the judge's own order (KPIs, then by weight) when none is. */
export function chooseDeltas(deltas: Delta[], query: DeltaQuery): Delta[] {
  const needle = query.q?.toLowerCase();
  const verdicts = query.verdict ? new Set(query.verdict.split(',')) : null;
  const prefix = query.program ? `${query.program}.` : null;
  const chosen = deltas.filter(
    (delta) =>
      (!needle || delta.metric.toLowerCase().includes(needle)) &&
      (!prefix || delta.metric.startsWith(prefix)) &&
      (!verdicts || verdicts.has(delta.verdict) || (verdicts.has('reported') && isReported(delta))) &&
      (!query.flag || (delta.flags as string[]).includes(query.flag)),
  );
  const size = (delta: Delta) => (delta.changePct === null ? -1 : Math.abs(delta.changePct));
  if (query.sort === 'size') chosen.sort((a, b) => size(b) - size(a));
  if (query.sort === 'weight') chosen.sort((a, b) => b.weight - a.weight);
  if (query.sort === 'p') chosen.sort((a, b) => (a.p ?? 2) - (b.p ?? 2));
  if (query.sort === 'name') chosen.sort((a, b) => (a.metric < b.metric ? -1 : 1));
  return chosen;
}

const Side = z.object({
  n: z.number().int().describe('Boots that have a value'),
  mean: z.number().nullable(),
  stddev: z.number().nullable().describe('n − 1'),
  values: z.array(z.number().nullable()).describe('Boot by boot, in the order of the judgement’s boots'),
  fails: z.number().int().optional().describe('Function metrics: boots in which it occurred'),
});

export const VERDICTS = ['regression', 'improvement', 'changed', 'same', 'inconclusive'] as const;

export const ApiDelta = z
  .object({
    metric: z.string(),
    verdict: z.enum(VERDICTS),
    kpi: z.boolean(),
    unit: z.string().optional(),
    better: z.enum(['higher', 'lower']).optional().describe('Absent: no direction is known'),
    base: Side,
    head: Side,
    change_pct: z.number().nullable().describe('Null when base is 0: from 0 has no percentage'),
    change_abs: z.number().nullable(),
    // `items` beside the two: some linters ask for it on every array.
    ci95_pct: z
      .tuple([z.number(), z.number()])
      .meta({ items: { type: 'number' }, maxItems: 2 })
      .nullable(),
    p: z.number().nullable(),
    q: z.number().nullable().describe('p after the correction for many metrics, within its family'),
    detectable_pct: z.number().nullable().describe('The smallest change that these boots could have shown'),
    flags: z.array(z.string()),
    weight: z.number(),
  })
  .meta({ id: 'Delta', description: 'One metric of one pair.' });
export type ApiDelta = z.infer<typeof ApiDelta>;

export function toApiDelta(delta: Delta): ApiDelta {
  return {
    metric: delta.metric,
    verdict: delta.verdict satisfies Verdict,
    kpi: delta.kpi,
    unit: delta.unit,
    better: delta.better,
    base: delta.base,
    head: delta.head,
    change_pct: delta.changePct,
    change_abs: delta.changeAbs,
    ci95_pct: delta.ci95Pct,
    p: delta.p,
    q: delta.q,
    detectable_pct: delta.detectablePct,
    flags: delta.flags,
    weight: Number.isFinite(delta.weight) ? delta.weight : 1e9,
  };
}
