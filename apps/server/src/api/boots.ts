import { listBoots } from '@kdelta/store';
import { z } from 'zod';
import type { App, ServerContext } from '../context.ts';
import { bootPage } from '../pages/boot/data.ts';
import { urls } from '../urls.ts';
import { answers } from './answers.ts';
import { Boot, BootDetail, BootState, Cursor, Id, IdParams, Limit, listOf, Name, pageOf, Sha } from './schemas.ts';

export function bootRoutes(app: App, ctx: ServerContext): void {
  app.get(
    '/api/v1/boots',
    {
      schema: {
        operationId: 'listBoots',
        tags: ['boots'],
        summary: 'Boots, newest first',
        querystring: z.object({
          pair: Id.optional(),
          bisect: Id.optional(),
          kernel: Id.optional(),
          testcase: Id.optional(),
          host: Name.optional(),
          state: BootState.optional(),
          sha: Sha.optional(),
          before: Cursor,
          limit: Limit,
        }),
        response: answers(listOf(Boot)),
      },
    },
    async (request) => pageOf(await listBoots(ctx.db, request.query), request.query.limit),
  );

  app.get(
    '/api/v1/boots/:id',
    {
      schema: {
        operationId: 'getBoot',
        tags: ['boots'],
        summary: 'A boot with its files, samples and timeline',
        params: IdParams,
        response: answers(BootDetail),
      },
    },
    async (request) => {
      const { boot, files, samples } = await bootPage(ctx, request.params.id);
      return {
        ...boot,
        files: files.map((file) => ({ ...file, url: urls.bootFile(boot.id, file.name) })),
        samples: Object.fromEntries(samples.map((sample) => [sample.metric, sample.value])),
      };
    },
  );
}
