import { userInfo } from 'node:os';
import { cancelBisect } from '@kdelta/steps';
import type { Command } from 'commander';
import { type AskedOptions, askedCommand, bisectById, withBot } from './asked.ts';

/** `kdelta bisect cancel ID`: ends a bisect of the bot; what it measured stays. */
export function bisectCancelCommand(): Command {
  return askedCommand('cancel', 'end a bisect of the bot')
    .argument('<id>', 'number of the bisect')
    .action((id: string, options: AskedOptions) =>
      withBot(options, async (world) => {
        const { id: known } = await bisectById(world, id);
        await cancelBisect(world.ctx, known, userInfo().username);
        const done = { id: known, state: 'cancelled' };
        process.stdout.write(options.json ? `${JSON.stringify(done)}\n` : `bisect ${known} is cancelled\n`);
        return 0;
      }),
    );
}
