import { countQueue, listBisects, listHosts, listPairs, listRunning, listTrees } from '@kdelta/store';
import type { ServerContext } from '../../context.ts';

/** What runs, what waits, and what was found lately. */
export async function overviewPage(ctx: ServerContext) {
  const [trees, pairs, running, queue, hosts, bisects] = await Promise.all([
    listTrees(ctx.db),
    listPairs(ctx.db, { limit: 60 }),
    listRunning(ctx.db),
    countQueue(ctx.db),
    listHosts(ctx.db),
    listBisects(ctx.db, { open: true, limit: 20 }),
  ]);
  const perHost = queue.boot_seconds ?? null;
  const eta = perHost === null || !queue.hosts ? null : (queue.boots * perHost) / queue.hosts;
  return { trees, pairs, running, queue: { ...queue, eta_seconds: eta }, hosts, bisects };
}
export type OverviewPage = Awaited<ReturnType<typeof overviewPage>>;
