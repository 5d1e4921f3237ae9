import { Command, type CommanderError, InvalidArgumentError } from 'commander';
import { UsageError } from './errors.ts';
import { runBisect } from './runBisect.ts';

export interface RunOptions {
  good?: string;
  bad?: string;
  metric?: string;
  maxRuns?: number;
  certainty?: number;
  firstParent?: boolean;
  /** False with --no-checkout. */
  checkout: boolean;
  binary?: boolean;
  resume?: boolean;
  json?: boolean;
}

const EXPLANATION = `
CMD runs at each chosen commit, with KDELTA_COMMIT set, and prints "name: number" lines or one bare number.
Exit status 125: this commit can't be tested. Any other but 0: a failure, tried again twice.
With --binary: 0 good, 1-124, 126 and 127 bad, 128 and above stop.

Exit status: 0 culprit named, 1 none or undecided, 2 bad input, 3 could not be done or interrupted (--resume goes on).`;

/** `kdelta bisect run --good G --bad B [options] -- CMD…`: see docs/bisect.md. */
export function bisectRunCommand(): Command {
  return new Command('run')
    .description('find the commit of any git repository that changed a number a command prints')
    .usage('--good G --bad B [options] -- CMD…')
    .option('--good <commit>', 'a commit before the change')
    .option('--bad <commit>', 'a commit after it')
    .option('--metric <name>', 'the number to look at, when CMD prints several')
    .option('--max-runs <n>', 'most runs of CMD (default: 200)', (v) => wholeNumber(v))
    .option('--certainty <p>', 'stop when this sure (default: 0.95)', (v) => probability(v))
    .option('--first-parent', 'follow first parents only: merges are candidates, not what they bring')
    .option('--no-checkout', 'leave the work tree alone; CMD looks at KDELTA_COMMIT')
    .option('--binary', "CMD's exit status is the result; flaky answers are allowed")
    .option('--resume', 'go on with an interrupted run')
    .option('--json', 'print the result as JSON')
    .argument('[cmd...]', 'the command and its arguments')
    .addHelpText('after', EXPLANATION)
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'kdelta: ')) })
    .exitOverride((error: CommanderError) => {
      process.exit(error.exitCode === 0 ? 0 : 2);
    })
    .action(async (command: string[], options: RunOptions) => {
      try {
        process.exitCode = await runBisect(command, options, process.cwd());
      } catch (error) {
        process.stderr.write(`kdelta: ${(error as Error).message.split('\n')[0]}\n`);
        process.exitCode = error instanceof UsageError ? 2 : 3;
      }
    });
}

function wholeNumber(text: string): number {
  const n = Number(text);
  if (!Number.isInteger(n) || n < 1) throw new InvalidArgumentError('It must be a whole number of at least 1.');
  return n;
}

function probability(text: string): number {
  const p = Number(text);
  if (!(p > 0.5 && p < 1)) throw new InvalidArgumentError('It must lie between 0.5 and 1, e.g. 0.95.');
  return p;
}
