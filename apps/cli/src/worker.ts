import { work } from '@kdelta/worker';
import { Command } from 'commander';
import { concurrency, type ServiceOptions, serve, wholeNumber } from './up.ts';

/** `kdelta worker`: takes ids off the queues and calls the steps. */
export function workerCommand(): Command {
  return new Command('worker')
    .description('plan, build, boot, judge, bisect and mail')
    .option('--config <file>', 'kdelta.yaml')
    .option('--builds <n>', 'kernels built at once', wholeNumber, 1)
    .option('--boots <n>', 'boots at once, over all hosts', wholeNumber, 64)
    .option('--json', 'print events as JSON lines')
    .action((options: ServiceOptions) => serve(options, ({ ctx, queues }) => work(ctx, queues, concurrency(options))));
}
