import { userInfo } from 'node:os';
import { startBisect } from '@kdelta/steps';
import { type Command, InvalidArgumentError } from 'commander';
import { type AskedOptions, askedCommand, withBot } from './asked.ts';

interface StartOptions extends AskedOptions {
  tree: string;
  good: string;
  bad: string;
  testcase: string;
  metric: string;
  hostGroup?: string;
  budget?: number;
  certainty?: number;
}

/** `kdelta bisect start --tree T --good G --bad B --testcase C --metric M`: asks the bot for a bisect; prints its number. */
export function bisectStartCommand(): Command {
  return askedCommand('start', 'ask the bot to find the commit that changed a metric')
    .requiredOption('--tree <tree>', 'a tree of kdelta.yaml')
    .requiredOption('--good <commit>', 'the commit before the change')
    .requiredOption('--bad <commit>', 'a commit with the change')
    .requiredOption('--testcase <testcase>', 'its name, key or number')
    .requiredOption('--metric <metric>', 'e.g. dbench.throughput_MB/s')
    .option('--host-group <group>', 'only this tbox group')
    .option('--budget <boots>', 'boots that may be spent', between(1, 10_000))
    .option('--certainty <p>', 'when to stop (default 0.95)', between(0.5, 0.9999))
    .action((options: StartOptions) =>
      withBot(options, async ({ ctx }) => {
        const request = { ...options, tboxGroup: options.hostGroup };
        const id = await startBisect(ctx, request, userInfo().username);
        process.stdout.write(options.json ? `${JSON.stringify({ id })}\n` : `bisect ${id} waits for a worker\n`);
        return 0;
      }),
    );
}

function between(least: number, most: number) {
  return (text: string): number => {
    const n = Number(text);
    if (!(n >= least && n <= most)) throw new InvalidArgumentError(`a number from ${least} to ${most}`);
    return n;
  };
}
