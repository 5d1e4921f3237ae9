import { listBisects } from '@kdelta/store';
import { z } from 'zod';
import { actOnBisect, askForBisect, BISECT_ACTIONS, giveMoreBoots } from '../actions/bisects.ts';
import type { App, ServerContext } from '../context.ts';
import { bisectPage } from '../pages/bisect/data.ts';
import { urls } from '../urls.ts';
import { answers } from './answers.ts';
import { Bisect, BisectDetail, BisectState, Cursor, IdParams, Limit, listOf, Name, pageOf } from './schemas.ts';

export function bisectRoutes(app: App, ctx: ServerContext): void {
  app.get(
    '/api/v1/bisects',
    {
      schema: {
        operationId: 'listBisects',
        tags: ['bisects'],
        summary: 'Bisects, newest first',
        querystring: z.object({ tree: Name.optional(), state: BisectState.optional(), before: Cursor, limit: Limit }),
        response: answers(listOf(Bisect)),
      },
    },
    async (request) => pageOf(await listBisects(ctx.db, request.query), request.query.limit),
  );

  app.get(
    '/api/v1/bisects/:id',
    {
      schema: {
        operationId: 'getBisect',
        tags: ['bisects'],
        summary: 'A bisect with its posterior, probes and culprit',
        params: IdParams,
        response: answers(BisectDetail),
      },
    },
    async (request) => {
      const { bisect, probes, commits } = await bisectPage(ctx, request.params.id);
      return { ...bisect, probes, commits };
    },
  );

  app.post(
    '/api/v1/bisects',
    {
      schema: {
        operationId: 'startBisect',
        tags: ['bisects'],
        summary: 'Ask for a bisect of a metric between two commits',
        security: [{ token: [] }],
        body: z.object({
          tree: Name,
          good: z.string().min(7).max(100).describe('Commit id (7 digits or more) or branch'),
          bad: z.string().min(7).max(100),
          testcase: Name.describe('Id, key or name'),
          metric: z.string().min(1).max(300),
          tbox_group: Name.optional(),
          budget: z.number().int().min(2).max(1000).optional().describe('Boots'),
          certainty: z.number().min(0.5).max(0.999).optional(),
        }),
        response: answers(z.object({ id: z.number(), url: z.string() })),
      },
    },
    async (request) => {
      const { tbox_group: tboxGroup, ...wanted } = request.body;
      const id = await askForBisect(ctx, request, { ...wanted, tboxGroup });
      return { id, url: ctx.config.url + urls.bisect(id) };
    },
  );

  app.post(
    '/api/v1/bisects/:id/:action',
    {
      schema: {
        operationId: 'actOnBisect',
        tags: ['bisects'],
        summary: 'Pause, resume or cancel a bisect',
        security: [{ token: [] }],
        params: IdParams.extend({ action: z.enum(BISECT_ACTIONS) }),
        response: answers(z.object({ id: z.number(), action: z.string() })),
      },
    },
    async (request) => {
      await actOnBisect(ctx, request, request.params.id, request.params.action);
      return request.params;
    },
  );

  app.post(
    '/api/v1/bisects/:id/budget',
    {
      schema: {
        operationId: 'extendBisect',
        tags: ['bisects'],
        summary: 'Give a bisect more boots',
        security: [{ token: [] }],
        params: IdParams,
        body: z.object({ boots: z.number().int().min(1).max(500) }),
        response: answers(z.object({ id: z.number(), budget: z.number() })),
      },
    },
    async (request) => ({
      id: request.params.id,
      budget: await giveMoreBoots(ctx, request, request.params.id, request.body.boots),
    }),
  );
}
