import { listBisects } from '@kdelta/store';
import { z } from 'zod';
import type { App, ServerContext } from '../context.ts';
import { bisectPage } from '../pages/bisect/data.ts';
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
}
