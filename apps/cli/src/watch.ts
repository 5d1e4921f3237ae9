import { watchTrees } from '@kdelta/watcher';
import { Command } from 'commander';
import { type ServiceOptions, serve } from './up.ts';

/** `kdelta watch`: fetches the trees of kdelta.yaml and records new heads. */
export function watchCommand(): Command {
  return new Command('watch')
    .description('fetch the trees and record new heads')
    .option('--config <file>', 'kdelta.yaml')
    .option('--json', 'print events as JSON lines')
    .action((options: ServiceOptions) => serve(options, ({ ctx }) => watchTrees(ctx)));
}
