import { type Delta, isReported } from '@kdelta/stats';
import { listPairs } from '@kdelta/store';
import { z } from 'zod';
import type { App, ServerContext } from '../context.ts';
import { chooseDeltas, DeltaQuery, isPlain, toApiDelta, VERDICTS } from '../deltas.ts';
import { allDeltas, type PairPage, pairPage } from '../pages/pair/data.ts';
import { urls } from '../urls.ts';
import { answers } from './answers.ts';
import { Cursor, Id, IdParams, Limit, listOf, Name, Pair, PairDetail, PairState, pageOf, Sha } from './schemas.ts';

export function pairRoutes(app: App, ctx: ServerContext): void {
  app.get(
    '/api/v1/pairs',
    {
      schema: {
        operationId: 'listPairs',
        tags: ['pairs'],
        summary: 'Pairs, newest first',
        querystring: z.object({
          tree: Name.optional(),
          branch: Name.optional(),
          verdict: z.enum(VERDICTS).optional(),
          state: PairState.optional(),
          program: Name.optional(),
          tbox_group: Name.optional(),
          testcase_id: Id.optional(),
          sha: Sha.optional().describe('Of base or head'),
          before: Cursor,
          limit: Limit,
        }),
        response: answers(listOf(Pair)),
      },
    },
    async (request) => pageOf(await listPairs(ctx.db, request.query), request.query.limit),
  );

  app.get(
    '/api/v1/pairs/:id',
    {
      schema: {
        operationId: 'getPair',
        tags: ['pairs'],
        summary: 'A pair with its verdict and deltas',
        params: IdParams,
        querystring: DeltaQuery.omit({ page: true }).extend({
          deltas: z
            .enum(['reported', 'all', 'none'])
            .default('reported')
            .describe('reported: KPIs and what changed; all: every metric, or those that the filters choose'),
        }),
        response: answers(PairDetail),
      },
    },
    async (request) => {
      const { deltas: which, ...query } = request.query;
      const page = await pairPage(ctx, request.params.id, {});
      if (which === 'none') return toApiPair(ctx, page, []);
      if (which === 'reported' && isPlain(query))
        return toApiPair(ctx, page, [...page.kpis, ...page.rows].filter(isShown));
      const all = page.pair.judgement_id === null ? [] : await allDeltas(ctx, page.pair.judgement_id);
      return toApiPair(ctx, page, chooseDeltas(all, query));
    },
  );
}

const isShown = (delta: Delta) => delta.kpi || isReported(delta);

function toApiPair(ctx: ServerContext, page: PairPage, deltas: Delta[]): z.infer<typeof PairDetail> {
  const { pair, judgement } = page;
  return {
    id: pair.id,
    url: ctx.config.url + urls.pair(pair.id),
    tree: pair.tree,
    branch: pair.branch,
    state: pair.state,
    verdict: pair.verdict,
    line: pair.line,
    failure: pair.failure,
    looks: pair.looks,
    judge_version: judgement?.judge_version ?? null,
    judgement_id: pair.judgement_id,
    base: pair.base,
    head: pair.head,
    testcase: {
      id: pair.testcase_id,
      key: pair.testcase_key,
      name: pair.testcase,
      program: pair.program,
      tbox_group: pair.tbox_group,
      deterministic: pair.deterministic,
      params: pair.params,
      versions: pair.versions,
    },
    boots: { base: judgement?.base_boots ?? [], head: judgement?.head_boots ?? [] },
    counts: page.counts,
    deltas: deltas.map(toApiDelta),
    deltas_total: page.total,
    environment_differences: page.differences,
    bisect_id: pair.bisect_id,
    culprit_sha: pair.culprit_sha,
    report_id: pair.report_id,
    planned_at: pair.planned_at,
    judged_at: pair.judged_at,
    prev_id: pair.prev_id,
    next_id: pair.next_id,
    links: pairLinks(pair),
  };
}

function pairLinks(pair: PairPage['pair']): Record<string, string> {
  const links: Record<string, string> = {
    page: urls.pair(pair.id),
    text: urls.pairText(pair.id),
    markdown: urls.pairMarkdown(pair.id),
    base_matrix: urls.pairMatrix(pair.id, 'base'),
    head_matrix: urls.pairMatrix(pair.id, 'head'),
  };
  if (pair.tree && pair.head.sha) links.matrix = urls.matrix(pair.tree, pair.head.sha, pair.testcase);
  if (pair.bisect_id) links.bisect = urls.bisect(pair.bisect_id);
  if (pair.report_id) links.report = urls.report(pair.report_id);
  return links;
}
