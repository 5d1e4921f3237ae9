import type { App, ServerContext } from '../context.ts';
import { overviewPage } from '../pages/overview/data.ts';
import { answers } from './answers.ts';
import { Overview } from './schemas.ts';

export function overviewRoutes(app: App, ctx: ServerContext): void {
  app.get(
    '/api/v1/overview',
    {
      schema: {
        operationId: 'getOverview',
        tags: ['overview'],
        summary: 'What runs, what waits, and what was found lately',
        response: answers(Overview),
      },
    },
    async () => {
      const { trees, hosts, ...rest } = await overviewPage(ctx);
      // Configuration names addresses and keys; what is public of it has fields of its own.
      return {
        ...rest,
        trees: trees.map(({ config: _config, ...tree }) => tree),
        hosts: hosts.map(({ config: _config, ...host }) => host),
      };
    },
  );
}
