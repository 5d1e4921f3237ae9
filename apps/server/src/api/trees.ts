import { appendEvent, listTrees, pokeTree } from '@kdelta/store';
import { z } from 'zod';
import { actorOf } from '../auth.ts';
import type { App, ServerContext } from '../context.ts';
import { notFound } from '../problems.ts';
import { answers } from './answers.ts';
import { Name, Tree } from './schemas.ts';

export function treeRoutes(app: App, ctx: ServerContext): void {
  app.get(
    '/api/v1/trees',
    {
      schema: {
        operationId: 'listTrees',
        tags: ['trees'],
        summary: 'Watched trees and their heads',
        response: answers(z.object({ items: z.array(Tree) })),
      },
    },
    async () => ({ items: (await listTrees(ctx.db)).map(({ config: _config, ...tree }) => tree) }),
  );

  // Open to git hooks without a token: it only brings the next fetch forward, and says so in the audit trail.
  app.post(
    '/api/v1/trees/:name/poke',
    {
      schema: {
        operationId: 'pokeTree',
        tags: ['trees'],
        summary: 'Fetch a tree now (for git hooks)',
        params: z.object({ name: Name }),
        response: answers(z.object({ tree: z.string(), due: z.literal('now') })),
      },
      config: { rateLimit: { max: 60, timeWindow: '1 minute' } },
    },
    async (request) => {
      const { name } = request.params;
      const id = await pokeTree(ctx.db, name);
      if (id === null) throw notFound('tree', name, 'GET /api/v1/trees lists them.');
      await appendEvent(ctx.db, {
        kind: 'tree.poke',
        subject: `tree:${id}`,
        actor: actorOf(request.person),
        data: { tree: name },
      });
      return { tree: name, due: 'now' as const };
    },
  );
}
