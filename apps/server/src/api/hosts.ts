import { listHosts } from '@kdelta/store';
import { z } from 'zod';
import { moveHost } from '../actions/hosts.ts';
import type { App, ServerContext } from '../context.ts';
import { answers } from './answers.ts';
import { Host, Name } from './schemas.ts';

export function hostRoutes(app: App, ctx: ServerContext): void {
  app.get(
    '/api/v1/hosts',
    {
      schema: {
        operationId: 'listHosts',
        tags: ['hosts'],
        summary: 'Test machines, their leases and health',
        response: answers(z.object({ items: z.array(Host) })),
      },
    },
    async () => ({ items: (await listHosts(ctx.db)).map(({ config: _config, ...host }) => host) }),
  );

  app.post(
    '/api/v1/hosts/:name/:action',
    {
      schema: {
        operationId: 'moveHost',
        tags: ['hosts'],
        summary: 'Take a host out, or bring it back',
        security: [{ token: [] }],
        params: z.object({ name: Name, action: z.enum(['take-out', 'bring-back']) }),
        body: z.object({ note: z.string().max(300).optional() }).optional(),
        response: answers(z.object({ name: z.string(), action: z.string() })),
      },
    },
    async (request) => {
      await moveHost(ctx, request, request.params.name, request.params.action, request.body?.note ?? null);
      return request.params;
    },
  );
}
