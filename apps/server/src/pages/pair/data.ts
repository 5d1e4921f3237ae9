import type { Delta } from '@kdelta/stats';
import {
  type JudgementRow,
  listPairBoots,
  listRange,
  listSamePairs,
  loadJudgement,
  loadJudgementHead,
  loadMetricHistory,
  loadPair,
  type PairBoot,
  type PairDetail,
  type RangeCommit,
  unpackJudgement,
  unpackJudgementHead,
} from '@kdelta/store';
import type { ServerContext } from '../../context.ts';
import { chooseDeltas, type DeltaQuery, isPlain } from '../../deltas.ts';
import { notFound } from '../../problems.ts';
import { bootSeries, type Series } from '../../series.ts';

export interface PairPage {
  pair: PairDetail;
  judgement: Omit<JudgementRow, 'packed'> | null;
  kpis: Delta[];
  /** What the query chose, without the KPIs that stand above; one page of it. */
  rows: Delta[];
  /** How many the query chose. */
  chosen: number;
  total: number;
  counts: Record<string, number>;
  programs: Record<string, number>;
  boots: PairBoot[];
  /** Environment facts in which the boots of base and head differ. */
  differences: { what: string; base: string[]; head: string[] }[];
  range: RangeCommit[];
  /** Other testcases and hosts of the same two kernels. */
  elsewhere: Awaited<ReturnType<typeof listSamePairs>>;
}

export const ROWS_PER_PAGE = 200;

/** All that a pair's page shows; throws 404 KD_NOT_FOUND. */
export async function pairPage(ctx: ServerContext, id: number, query: DeltaQuery): Promise<PairPage> {
  const plain = isPlain(query);
  const pair = await loadPair(ctx.db, id);
  if (!pair) throw notFound('pair', id);
  const [judgement, range] = await Promise.all([
    pair.judgement_id === null ? null : (plain ? loadJudgementHead : loadJudgement)(ctx.db, pair.judgement_id),
    pair.base.sha && pair.head.sha && pair.base.sha !== pair.head.sha
      ? listRange(ctx.db, pair.base.sha, pair.head.sha, 60)
      : [],
  ]);
  const [boots, elsewhere] = await Promise.all([
    listPairBoots(ctx.db, id, judgement ? [...judgement.base_boots, ...judgement.head_boots] : []),
    listSamePairs(ctx.db, pair.base.id, pair.head.id, id),
  ]);
  const differences = environmentDifferences(pair, boots);
  if (!judgement)
    return {
      pair,
      judgement: null,
      kpis: [],
      rows: [],
      chosen: 0,
      total: 0,
      counts: {},
      programs: {},
      boots,
      differences,
      range,
      elsewhere,
    };
  const { packed, ...row } = judgement;
  const head = unpackJudgementHead(packed);
  const deltas = plain ? head.deltas : unpackJudgement(packed).deltas;
  const kpis = head.deltas.filter((delta) => delta.kpi);
  const chosen = chooseDeltas(deltas, query).filter((delta) => !delta.kpi);
  const changed = plain
    ? chosen.findLastIndex((delta) => delta.verdict !== 'same' && delta.verdict !== 'inconclusive') + 1
    : 0;
  const first = ((query.page ?? 1) - 1) * ROWS_PER_PAGE;
  return {
    pair,
    judgement: row,
    kpis,
    rows: chosen.slice(first, Math.max(first + ROWS_PER_PAGE, changed)),
    chosen: plain ? head.total - kpis.length : chosen.length,
    total: head.total,
    counts: head.counts,
    programs: head.programs,
    boots,
    differences,
    range,
    elsewhere,
  };
}

/** Every delta of a judgement, in the judge's order. */
export async function allDeltas(ctx: ServerContext, judgementId: number): Promise<Delta[]> {
  const judgement = await loadJudgement(ctx.db, judgementId);
  return judgement ? unpackJudgement(judgement.packed).deltas : [];
}

/** Boots of each kernel whose samples are drawn. */
const DRAWN_BOOTS = 5;

export interface MetricDetails {
  metric: string;
  boots: { id: number; side: 'base' | 'head'; value: number | null; started_at: Date | null }[];
  history: { boot_id: number; kernel_id: number; value: number }[];
  /** Inside the boots, where the metric was sampled over time. */
  series: (Series & { side: 'base' | 'head' })[];
  /** A boot of the head whose raw files may be looked at. */
  raw: number | null;
}

/** What an expanded row shows; null when the judgement has no such metric. */
export async function metricDetails(ctx: ServerContext, data: PairPage, metric: string): Promise<MetricDetails | null> {
  const { pair, judgement } = data;
  if (!judgement || pair.judgement_id === null) return null;
  const shown = [...data.kpis, ...data.rows].find((delta) => delta.metric === metric);
  const delta = shown ?? (await allDeltas(ctx, pair.judgement_id)).find((other) => other.metric === metric);
  if (!delta) return null;
  const values = new Map<number, { side: 'base' | 'head'; value: number | null }>();
  for (const [i, boot] of judgement.base_boots.entries())
    values.set(boot, { side: 'base', value: delta.base.values[i] ?? null });
  for (const [i, boot] of judgement.head_boots.entries())
    values.set(boot, { side: 'head', value: delta.head.values[i] ?? null });
  const newest = Math.max(...values.keys());
  const drawn = [...judgement.base_boots.slice(-DRAWN_BOOTS), ...judgement.head_boots.slice(-DRAWN_BOOTS)];
  const [history, series] = await Promise.all([
    loadMetricHistory(ctx.db, { testcaseId: pair.testcase_id, metric, upTo: newest, limit: 120 }),
    Promise.all(drawn.map((boot) => bootSeries(ctx, boot, metric))),
  ]);
  return {
    metric,
    boots: data.boots.flatMap((boot) => {
      const own = values.get(boot.id);
      return own ? [{ id: boot.id, ...own, started_at: boot.started_at }] : [];
    }),
    history,
    series: series.flatMap((one) => (one ? [{ ...one, side: values.get(one.boot)!.side }] : [])),
    raw: judgement.head_boots[0] ?? null,
  };
}

function environmentDifferences(pair: PairDetail, boots: PairBoot[]): PairPage['differences'] {
  const facts = new Map<string, { base: Set<string>; head: Set<string> }>();
  for (const boot of boots) {
    const side = boot.kernel_id === pair.base.id || boot.kernel_id === pair.base.same_as ? 'base' : 'head';
    for (const [what, value] of Object.entries({ ...boot.environment, host: boot.host ?? '' })) {
      let fact = facts.get(what);
      if (!fact) {
        fact = { base: new Set(), head: new Set() };
        facts.set(what, fact);
      }
      fact[side].add(value);
    }
  }
  const differ = [...facts].filter(
    ([, f]) => f.base.size && f.head.size && [...f.base].join('\0') !== [...f.head].join('\0'),
  );
  return differ.map(([what, f]) => ({ what, base: [...f.base], head: [...f.head] }));
}
