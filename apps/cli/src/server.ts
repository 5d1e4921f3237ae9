import { once } from 'node:events';
import { Command } from 'commander';
import { type ServiceOptions, serve, startPages } from './up.ts';

/** `kdelta server`: pages and API alone, for a lab whose watcher and workers run elsewhere. */
export function serverCommand(): Command {
  return new Command('server')
    .description('pages and API alone (kdelta up has them too)')
    .option('--config <file>', 'kdelta.yaml')
    .option('--json', 'print events as JSON lines')
    .action((options: ServiceOptions) =>
      serve(options, async (world) => {
        const pages = await startPages(world);
        const { signal } = world.ctx;
        if (!signal.aborted) await once(signal, 'abort');
        await pages.close();
      }),
    );
}
