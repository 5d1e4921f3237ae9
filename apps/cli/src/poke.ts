import { suggestion } from '@kdelta/jobs';
import { openContext, UnknownName } from '@kdelta/steps';
import { appendEvent, listTrees, pokeTree } from '@kdelta/store';
import { Command } from 'commander';
import { openLog, outcome } from './outcome.ts';

/** `kdelta poke TREE`: the watcher fetches it at once. */
export function pokeCommand(): Command {
  return new Command('poke')
    .description('fetch a tree now')
    .argument('<tree>', 'a tree of kdelta.yaml')
    .option('--config <file>', 'kdelta.yaml')
    .option('--json', 'print {"tree", "id"}')
    .action((name: string, options: { config?: string; json?: boolean }) =>
      outcome(async (signal) => {
        const world = await openContext({ log: openLog('warn'), signal, configFile: options.config });
        const { pool } = world.ctx.store;
        try {
          const id = await pokeTree(pool, name);
          if (id === null) {
            const known = (await listTrees(pool)).filter((row) => row.active).map((row) => row.name);
            throw new UnknownName('KD_UNKNOWN_TREE', `no tree ${name} is watched${suggestion(name, known)}`);
          }
          await appendEvent(pool, { kind: 'tree.poke', subject: `tree:${name}`, actor: 'cli' });
          process.stdout.write(
            options.json ? `${JSON.stringify({ tree: name, id })}\n` : `${name} will be fetched now\n`,
          );
          return 0;
        } finally {
          await world.close();
        }
      }),
    );
}
