import type { KdeltaConfig } from '@kdelta/jobs';
import { type OpenContext, openContext } from '@kdelta/steps';
import { listenEvents } from '@kdelta/store';
import { watchTrees } from '@kdelta/watcher';
import { work } from '@kdelta/worker';
import { Command, InvalidArgumentError } from 'commander';
import { eventLine } from './live.ts';
import { openLog, outcome } from './outcome.ts';

export interface ServiceOptions {
  config?: string;
  builds?: number;
  boots?: number;
  server?: boolean;
  json?: boolean;
}

/** `kdelta up`: server, watcher and worker in one process, with Postgres and Redis of their own. */
export function upCommand(): Command {
  return new Command('up')
    .description('server, watcher and worker in one go, with a database of their own')
    .option('--config <file>', 'kdelta.yaml')
    .option('--builds <n>', 'kernels built at once', wholeNumber, 1)
    .option('--boots <n>', 'boots at once, over all hosts', wholeNumber, 64)
    .option('--no-server', 'without pages and API')
    .option('--json', 'print events as JSON lines')
    .action((options: ServiceOptions) =>
      serve(options, async (world) => {
        const { ctx, queues } = world;
        const server = options.server === false ? null : await startPages(world);
        await Promise.all([watchTrees(ctx), work(ctx, queues, concurrency(options))]);
        await server?.close();
      }),
    );
}

/** Opens the world, shows events, runs `work` until it is told to stop, and closes. */
export function serve(options: ServiceOptions, run: (world: OpenContext) => Promise<void>): Promise<void> {
  return outcome(async (signal) => {
    const log = openLog('info');
    const world = await openContext({ log, signal, configFile: options.config, checkTrees: true });
    try {
      const quiet = await listenEvents(world.ctx.store, (event) => {
        process.stdout.write(`${options.json ? JSON.stringify(event) : eventLine(event)}\n`);
      });
      try {
        await run(world);
      } finally {
        await quiet();
      }
      return 0;
    } finally {
      await world.close();
    }
  });
}

export function concurrency(options: ServiceOptions): { build: number; boot: number } {
  return { build: options.builds ?? 1, boot: options.boots ?? 64 };
}

export function wholeNumber(text: string): number {
  const n = Number(text);
  if (!Number.isInteger(n) || n < 1) throw new InvalidArgumentError('It must be a whole number of at least 1.');
  return n;
}

/** Pages and API, on the configured address. */
export async function startPages({ ctx }: OpenContext): Promise<{ close(): Promise<void> }> {
  const { startServer } = await import('@kdelta/server');
  const app = await startServer({
    config: ctx.config,
    store: ctx.store,
    artifacts: ctx.artifacts,
    enqueue: ctx.enqueue,
    programs: ctx.programs,
    dirs: ctx.dirs,
    log: ctx.log.child({ app: 'server' }, { level: 'warn' }),
  });
  process.stdout.write(`dashboard: ${addressOf(ctx.config, app.server.address())}\n`);
  return app;
}

function addressOf(config: KdeltaConfig, bound: unknown): string {
  const { port } = (bound ?? {}) as { port?: number };
  // `listen: port 0` takes a free one.
  return config.listen.port === 0 && port ? `http://${config.listen.host}:${port}` : config.url;
}
