import {
  findMetrics,
  findTestcases,
  listBoots,
  listEvents,
  listHostNoise,
  listHosts,
  listNoise,
  listTrees,
} from '@kdelta/store';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Id, IdParams, Name, NoiseMetrics } from '../api/schemas.ts';
import { compareKernels } from '../compare.ts';
import type { App, ServerContext } from '../context.ts';
import { DeltaQuery } from '../deltas.ts';
import { documentOf } from '../openapi.ts';
import type { Frame } from '../parts/layout.tsx';
import { notFound } from '../problems.ts';
import { urls } from '../urls.ts';
import { renderApi } from './api/page.tsx';
import { commitPage } from './commit/data.ts';
import { renderCommit } from './commit/page.tsx';
import { renderCompare } from './compare/page.tsx';
import { HistoryQuery, historyPage } from './history/data.ts';
import { renderHistory } from './history/page.tsx';
import { renderHost, renderHosts } from './hosts/page.tsx';
import { html } from './html.ts';
import { kernelPage } from './kernel/data.ts';
import { renderKernel } from './kernel/page.tsx';
import { MapanonQuery, mapanonPage } from './mapanon/data.ts';
import { renderMapanon } from './mapanon/page.tsx';
import { NewBisectQuery, newBisectPage } from './newBisect/data.ts';
import { renderNewBisect } from './newBisect/page.tsx';
import { renderNoise } from './noise/page.tsx';
import { fromForm } from './routes.ts';
import { readJobs } from './trees/jobs.ts';
import { renderTrees } from './trees/page.tsx';

const hide = { hide: true };

export function moreRoutes(app: App, ctx: ServerContext, frame: (request: FastifyRequest) => Frame): void {
  app.get(
    '/commits/:sha',
    { schema: { ...hide, params: z.object({ sha: z.string().regex(/^[0-9a-f]{7,40}$/) }) } },
    async (request, reply) => html(reply, renderCommit(frame(request), await commitPage(ctx, request.params.sha))),
  );

  app.get(
    '/kernels/:id',
    { schema: { ...hide, params: IdParams, querystring: fromForm(z.object({ against: Id.optional() })) } },
    async (request, reply) => {
      const { against } = request.query as { against?: number };
      return html(reply, renderKernel(frame(request), await kernelPage(ctx, request.params.id, against)));
    },
  );

  app.get('/history', { schema: { ...hide, querystring: fromForm(HistoryQuery) } }, async (request, reply) => {
    const query = request.query as HistoryQuery;
    return html(reply, renderHistory(frame(request), await historyPage(ctx, query), query));
  });

  const CompareQuery = DeltaQuery.extend({ base: Id, head: Id, testcase: Id });
  app.get('/compare', { schema: { ...hide, querystring: fromForm(CompareQuery) } }, async (request, reply) => {
    const query = request.query as z.infer<typeof CompareQuery>;
    return html(reply, renderCompare(frame(request), await compareKernels(ctx, query), query));
  });

  app.get('/mapanon', { schema: { ...hide, querystring: fromForm(MapanonQuery) } }, async (request, reply) =>
    html(reply, renderMapanon(frame(request), await mapanonPage(ctx, request.query as MapanonQuery))),
  );

  app.get('/hosts', { schema: hide }, async (request, reply) =>
    html(reply, renderHosts(frame(request), await listHosts(ctx.db))),
  );
  app.get('/hosts/:name', { schema: { ...hide, params: z.object({ name: Name }) } }, async (request, reply) => {
    const { name } = request.params;
    const host = (await listHosts(ctx.db)).find((one) => one.name === name);
    if (!host) throw notFound('host', name);
    const [boots, noise, events] = await Promise.all([
      listBoots(ctx.db, { host: name, limit: 50 }),
      listHostNoise(ctx.db, name),
      listEvents(ctx.db, { subject: `host:${host.id}`, limit: 50 }),
    ]);
    return html(reply, renderHost(frame(request), { host, boots, noise, events }));
  });

  app.get('/trees', { schema: hide }, async (request, reply) => {
    const [trees, jobs] = await Promise.all([listTrees(ctx.db), readJobs()]);
    return html(reply, renderTrees(frame(request), trees, jobs));
  });

  app.get(
    '/noise',
    { schema: { ...hide, querystring: fromForm(z.object({ testcase: Id.optional(), metrics: NoiseMetrics })) } },
    async (request, reply) => {
      const { testcase, metrics } = request.query as { testcase?: number; metrics: 'kpi' | 'all' };
      const all = metrics === 'all';
      const noise = await listNoise(ctx.db, { testcaseId: testcase, all });
      return html(reply, renderNoise(frame(request), noise, { testcase, all }));
    },
  );

  app.get('/bisects/new', { schema: { ...hide, querystring: fromForm(NewBisectQuery) } }, async (request, reply) =>
    html(reply, renderNewBisect(frame(request), await newBisectPage(ctx, request.query as NewBisectQuery))),
  );

  app.get('/api', { schema: hide }, async (request, reply) =>
    html(reply, renderApi(frame(request), documentOf(app) as never)),
  );

  // The box in the header: a commit, a pair's number, or part of a metric's name.
  app.get(
    '/go',
    { schema: { ...hide, querystring: z.object({ q: z.string().max(300).default('') }) } },
    async (request, reply) => {
      const q = request.query.q.trim();
      if (/^[0-9a-f]{7,40}$/.test(q)) return reply.redirect(urls.commit(q), 303);
      const numbered = /^(?:(pair|boot|bisect|kernel|report)s?\s*#?)?(\d{1,9})$/i.exec(q);
      if (numbered) {
        const id = Number(numbered[2]);
        const kind = (numbered[1] ?? 'pair').toLowerCase() as 'pair' | 'boot' | 'bisect' | 'kernel' | 'report';
        return reply.redirect(urls[kind](id), 303);
      }
      for (const testcase of q ? await findTestcases(ctx.db) : []) {
        const [metric] = await findMetrics(ctx.db, { testcaseId: testcase.id, part: q, limit: 1 });
        if (metric) return reply.redirect(urls.history({ testcase: testcase.id, metric: metric.name }), 303);
      }
      throw notFound('commit, pair or metric', `"${q}"`);
    },
  );
}
