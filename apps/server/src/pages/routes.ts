import { listBisects, listPairs, listReports } from '@kdelta/store';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { BisectState, Cursor, IdParams, Limit, Name, PairState, ReportState, Sha } from '../api/schemas.ts';
import type { App, ServerContext } from '../context.ts';
import { DeltaQuery, VERDICTS } from '../deltas.ts';
import type { Frame } from '../parts/layout.tsx';
import { bisectPage } from './bisect/data.ts';
import { bisectLog, renderBisect } from './bisect/page.tsx';
import { renderBisects } from './bisects/page.tsx';
import { bootPage } from './boot/data.ts';
import { renderBoot } from './boot/page.tsx';
import { formRoutes } from './formRoutes.ts';
import { html, shared } from './html.ts';
import { moreRoutes } from './moreRoutes.ts';
import { overviewPage } from './overview/data.ts';
import { renderOverview } from './overview/page.tsx';
import { metricDetails, pairPage } from './pair/data.ts';
import { renderPair } from './pair/page.tsx';
import { reproduceOf } from './pair/reproduce.ts';
import { pairMarkdown, pairText } from './pair/text.ts';
import { renderPairs } from './pairs/page.tsx';
import { reportPage } from './report/data.ts';
import { renderReport } from './report/page.tsx';
import { renderReports } from './reports/page.tsx';
import { signInRoutes } from './signIn/routes.ts';

const hide = { hide: true };
/** Empty form fields come as `?verdict=`: they mean that the filter is not set. */
export const fromForm = <T extends z.ZodType>(schema: T) =>
  z.preprocess(
    (query) =>
      Object.fromEntries(Object.entries((query ?? {}) as Record<string, unknown>).filter(([, value]) => value !== '')),
    schema,
  );

export function pageRoutes(app: App, ctx: ServerContext): void {
  const frame = (request: FastifyRequest): Frame => ({
    ctx,
    person: request.person,
    path: request.url,
    now: ctx.now(),
    since: request.lastEvent,
  });

  app.get('/', { schema: hide }, async (request, reply) =>
    html(reply, await shared(ctx, request, async () => renderOverview(frame(request), await overviewPage(ctx)))),
  );

  const PairsQuery = z.object({
    tree: Name.optional(),
    branch: Name.optional(),
    verdict: z.enum(VERDICTS).optional(),
    state: PairState.optional(),
    program: Name.optional(),
    tbox_group: Name.optional(),
    sha: Sha.optional(),
    before: Cursor,
    limit: Limit,
  });
  app.get('/pairs', { schema: { ...hide, querystring: fromForm(PairsQuery) } }, async (request, reply) => {
    const query = request.query as z.infer<typeof PairsQuery>;
    return html(reply, renderPairs(frame(request), await listPairs(ctx.db, query), query));
  });

  const PairQuery = DeltaQuery.extend({ m: z.string().max(300).optional() });
  app.get(
    '/pairs/:id',
    { schema: { ...hide, params: IdParams, querystring: fromForm(PairQuery) } },
    async (request, reply) => {
      const query = request.query as z.infer<typeof PairQuery>;
      const { m, ...filters } = query;
      const draw = async () => {
        const data = await pairPage(ctx, request.params.id, filters);
        const detail = m ? await metricDetails(ctx, data, m) : null;
        return renderPair(frame(request), data, query, detail);
      };
      return html(reply, await shared(ctx, request, draw));
    },
  );
  app.get('/pairs/:id.txt', { schema: { ...hide, params: IdParams } }, async (request, reply) =>
    reply.type('text/plain; charset=utf-8').send(await pairText(ctx, request.params.id)),
  );
  app.get('/pairs/:id.md', { schema: { ...hide, params: IdParams } }, async (request, reply) =>
    reply.type('text/plain; charset=utf-8').send(await pairMarkdown(ctx, request.params.id)),
  );
  app.get('/pairs/:id/reproduce', { schema: { ...hide, params: IdParams } }, async (request, reply) =>
    reply.type('text/plain; charset=utf-8').send(await reproduceOf(ctx, request.params.id)),
  );

  const BisectsQuery = z.object({ tree: Name.optional(), state: BisectState.optional(), before: Cursor, limit: Limit });
  app.get('/bisects', { schema: { ...hide, querystring: fromForm(BisectsQuery) } }, async (request, reply) => {
    const query = request.query as z.infer<typeof BisectsQuery>;
    return html(reply, renderBisects(frame(request), await listBisects(ctx.db, query), query));
  });
  app.get('/bisects/:id', { schema: { ...hide, params: IdParams } }, async (request, reply) =>
    html(
      reply,
      await shared(ctx, request, async () => renderBisect(frame(request), await bisectPage(ctx, request.params.id))),
    ),
  );
  app.get('/bisects/:id.log', { schema: { ...hide, params: IdParams } }, async (request, reply) =>
    reply.type('text/plain; charset=utf-8').send(bisectLog(await bisectPage(ctx, request.params.id))),
  );

  const BootQuery = z.object({ q: z.string().max(200).optional(), m: z.string().max(300).optional() });
  app.get('/boots/:id', { schema: { ...hide, params: IdParams, querystring: BootQuery } }, async (request, reply) =>
    html(
      reply,
      await shared(ctx, request, async () =>
        renderBoot(frame(request), await bootPage(ctx, request.params.id, request.query.m), request.query),
      ),
    ),
  );

  const ReportsQuery = z.object({ tree: Name.optional(), state: ReportState.optional(), before: Cursor, limit: Limit });
  app.get('/reports', { schema: { ...hide, querystring: fromForm(ReportsQuery) } }, async (request, reply) => {
    const query = request.query as z.infer<typeof ReportsQuery>;
    return html(reply, renderReports(frame(request), await listReports(ctx.db, query), query));
  });
  app.get('/r/:id', { schema: { ...hide, params: IdParams } }, async (request, reply) =>
    html(reply, renderReport(frame(request), await reportPage(ctx, request.params.id))),
  );

  moreRoutes(app, ctx, frame);
  formRoutes(app, ctx);
  signInRoutes(app, ctx, frame);
}
