import { fixed } from '@kdelta/stats';
import { Command } from 'commander';
import { joinIterations, readRun, WorklogError } from './mmtests/worklog.ts';

interface ExtractOptions {
  directory: string;
  benchmark: string;
  name: string;
  printHeader?: boolean;
  printSummary?: boolean;
  json?: boolean;
}

/** `kdelta extract -d work/log -b pft -n RUN`: an MMTests work log's raw samples, or their means per client. */
export function extractCommand(): Command {
  return new Command('extract')
    .description('print the samples of an MMTests work log')
    .requiredOption('-d, --directory <dir>', "MMTests' work/log")
    .requiredOption('-b, --benchmark <name>', 'benchmark, e.g. pft')
    .requiredOption('-n, --name <run>', 'run name')
    .option('--print-header', 'print a line of headings first')
    .option('--print-summary', 'print the mean of the samples of each client')
    .option('--json', 'print {"operations": [{metric, op, samples}]}')
    .action((options: ExtractOptions) => {
      try {
        process.stdout.write(extract(options));
      } catch (error) {
        if (!(error instanceof WorklogError)) throw error;
        process.stderr.write(`kdelta: ${error.message}\n`);
        process.exitCode = 2;
      }
    });
}

/** What the command prints. Throws WorklogError. */
export function extract(options: ExtractOptions): string {
  const { operations } = joinIterations(readRun(options.directory, options.benchmark, options.name));
  if (options.json) return `${JSON.stringify({ operations })}\n`;
  const metrics = [...new Set(operations.map((o) => o.metric))];
  const clients = [...new Set(operations.map((o) => o.op))];
  const first = options.printSummary ? 8 : 12;
  const digits = (metric: string) => (metric.startsWith('Faults') ? 3 : 2);
  const row = (cells: string[]) =>
    `${cells[0]!.padEnd(first)}${cells
      .slice(1)
      .map((cell) => cell.padEnd(12))
      .join('')}\n`;
  const samples = (metric: string, op: string) => operations.find((o) => o.metric === metric && o.op === op)!.samples;
  let out = options.printHeader ? row(['Clients', ...metrics]) : '';
  for (const op of clients) {
    const n = options.printSummary ? 1 : samples(metrics[0]!, op).length;
    for (let i = 0; i < n; i++)
      out += row([
        op,
        ...metrics.map((metric) => {
          const values = samples(metric, op);
          const value = options.printSummary ? values.reduce((a, b) => a + b, 0) / values.length : values[i]!;
          return fixed(value, digits(metric));
        }),
      ]);
  }
  return out;
}
