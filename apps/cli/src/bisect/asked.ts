import { AskError, type OpenContext, openContext } from '@kdelta/steps';
import { type BisectDetail, loadBisect } from '@kdelta/store';
import { Command } from 'commander';
import { type ExitStatus, openLog, outcome } from '../outcome.ts';

/** What the subcommands that look at the bot's bisects have in common: `--config`, `--json`, a connection. */
export interface AskedOptions {
  config?: string;
  json?: boolean;
}

export function askedCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .option('--config <file>', 'kdelta.yaml')
    .option('--json', 'print JSON');
}

export async function withBot(options: AskedOptions, work: (world: OpenContext) => Promise<ExitStatus>): Promise<void> {
  await outcome(async (signal) => {
    const world = await openContext({ log: openLog('warn'), signal, configFile: options.config });
    try {
      return await work(world);
    } finally {
      await world.close();
    }
  });
}

export async function bisectById({ ctx }: OpenContext, text: string): Promise<BisectDetail> {
  const row = /^[1-9]\d{0,8}$/.test(text) ? await loadBisect(ctx.store.pool, Number(text)) : null;
  if (!row) throw new AskError('KD_BISECT_UNKNOWN', `there is no bisect ${text}; \`kdelta bisect status\` lists them`);
  return row;
}
