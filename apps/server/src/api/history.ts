import { findMetrics, findTestcases, listNoise } from '@kdelta/store';
import { z } from 'zod';
import type { App, ServerContext } from '../context.ts';
import { HistoryQuery, historySeries } from '../pages/history/data.ts';
import { answers } from './answers.ts';
import { Id, Name, NoiseMetrics } from './schemas.ts';

const nullable = z.array(z.number().nullable());
const Series = z
  .object({
    testcase_id: z.number(),
    testcase: z.string(),
    tbox_group: z.string(),
    metric: z.string(),
    branch: z.string().optional(),
    boots: z.array(z.number()),
    kernels: z.array(z.number()),
    shas: z.array(z.string().nullable()),
    at: z.array(z.number()).describe('Seconds since the epoch'),
    committed: nullable,
    values: z.array(z.number()),
    marks: z.array(
      z.object({
        pair_id: z.number(),
        verdict: z.string(),
        change_pct: z.number().nullable(),
        head_kernel_id: z.number(),
        bisect_id: z.number().nullable(),
        report_id: z.number().nullable(),
      }),
    ),
  })
  .meta({ id: 'Series', description: 'Boots of one metric at one testcase, as parallel arrays, oldest first.' });

export function historyRoutes(app: App, ctx: ServerContext): void {
  app.get(
    '/api/v1/history',
    {
      schema: {
        operationId: 'getHistory',
        tags: ['history'],
        summary: 'One or many metrics over the boots of testcases',
        querystring: HistoryQuery,
        response: answers(z.object({ series: z.array(Series) })),
      },
    },
    async (request) => ({ series: await historySeries(ctx, request.query) }),
  );

  app.get(
    '/api/v1/testcases',
    {
      schema: {
        operationId: 'listTestcases',
        tags: ['history'],
        summary: 'Testcases that have boots',
        querystring: z.object({ tree: Name.optional() }),
        response: answers(
          z.object({
            items: z.array(
              z
                .object({
                  id: z.number(),
                  key: z.string(),
                  name: z.string(),
                  program: z.string(),
                  tbox_group: z.string(),
                  deterministic: z.boolean(),
                  boots: z.number(),
                })
                .meta({ id: 'TestcaseRow' }),
            ),
          }),
        ),
      },
    },
    async (request) => ({ items: await findTestcases(ctx.db, request.query) }),
  );

  app.get(
    '/api/v1/testcases/:id/metrics',
    {
      schema: {
        operationId: 'listMetrics',
        tags: ['history'],
        summary: 'Names of the metrics of a testcase, KPIs first',
        params: z.object({ id: Id }),
        querystring: z.object({
          q: z.string().max(200).default(''),
          limit: z.coerce.number().int().min(1).max(5000).default(100),
        }),
        response: answers(z.object({ items: z.array(z.object({ name: z.string(), kpi: z.boolean() })) })),
      },
    },
    async (request) => ({
      items: await findMetrics(ctx.db, {
        testcaseId: request.params.id,
        part: request.query.q,
        limit: request.query.limit,
      }),
    }),
  );

  app.get(
    '/api/v1/noise',
    {
      schema: {
        operationId: 'getNoise',
        tags: ['history'],
        summary: 'How far the boots of one kernel scatter, per KPI or metric and testcase: the noisiest 500',
        querystring: z.object({ testcase: Id.optional(), metrics: NoiseMetrics }),
        response: answers(
          z.object({
            items: z.array(
              z
                .object({
                  testcase_id: z.number(),
                  testcase: z.string(),
                  tbox_group: z.string(),
                  metric: z.string(),
                  kpi: z.boolean(),
                  kernels: z.number(),
                  boots: z.number(),
                  within_pct: z.number().nullable(),
                  df: z.number(),
                  between_pct: z.number().nullable(),
                  level: z.number(),
                  up_to_boot: z.number(),
                })
                .meta({ id: 'NoiseRow' }),
            ),
          }),
        ),
      },
    },
    async ({ query }) => ({
      items: await listNoise(ctx.db, { testcaseId: query.testcase, all: query.metrics === 'all' }),
    }),
  );
}
