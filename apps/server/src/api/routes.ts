import type { App, ServerContext } from '../context.ts';
import { bisectRoutes } from './bisects.ts';
import { bootRoutes } from './boots.ts';
import { downloadRoutes } from './downloads.ts';
import { overviewRoutes } from './overview.ts';
import { pairRoutes } from './pairs.ts';
import { reportRoutes } from './reports.ts';
import { treeRoutes } from './trees.ts';

export function apiRoutes(app: App, ctx: ServerContext): void {
  app.get('/health', { schema: { hide: true } }, async () => ({ ok: true }));
  app.get('/api/v1/openapi.json', { schema: { hide: true } }, async () => app.swagger());
  overviewRoutes(app, ctx);
  pairRoutes(app, ctx);
  bisectRoutes(app, ctx);
  bootRoutes(app, ctx);
  reportRoutes(app, ctx);
  treeRoutes(app, ctx);
  downloadRoutes(app, ctx);
}
