import { writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { type Matrix, writeMatrixJson } from '@kdelta/matrix';
import { Command } from 'commander';
import { readVmregress } from './mmtests/vmregress.ts';
import { type Iteration, listRuns, readRun, WorklogError } from './mmtests/worklog.ts';

/** `kdelta import mmtests|vmregress`: other systems' results as matrix files, for every kdelta table and test. */
export function importCommand(): Command {
  const command = new Command('import').description("read other systems' results into matrix files");
  command
    .command('mmtests')
    .description('one NAME.matrix.json per run of an MMTests work log (0.05 or today)')
    .argument('<worklog>', "MMTests' work/log")
    .option('-b, --benchmark <name>', 'benchmark', 'pft')
    .option('--samples-as-boots', 'a column per sample: not independent boots, intervals come out too narrow')
    .option('-o, --out <dir>', 'folder for the files', '.')
    .option('--json', 'print the files written')
    .action((worklog: string, options: { benchmark: string; samplesAsBoots?: boolean; out: string; json?: boolean }) =>
      attempt(() => {
        const names = listRuns(worklog, options.benchmark);
        if (names.length === 0) throw new WorklogError(`${worklog}: no run of ${options.benchmark}`);
        report(
          names.map((name) =>
            save(
              options.out,
              name,
              runMatrix(readRun(worklog, options.benchmark, name), options.samplesAsBoots ?? false),
            ),
          ),
          options.json,
        );
      }),
    );
  command
    .command('vmregress')
    .description("NAME.matrix.json of one kernel's VM Regress folder")
    .argument('<dir>', '<kernel>/ with <pattern>_<size>/ in it')
    .option('-o, --out <dir>', 'folder for the file', '.')
    .option('--json', 'print the files written')
    .action((dir: string, options: { out: string; json?: boolean }) =>
      attempt(() => report([save(options.out, basename(resolve(dir)), readVmregress(dir))], options.json)),
    );
  return command;
}

/**
 * `BENCH.METRIC-OP` → one number per iteration of the run (its samples' mean), the within-run spread beside it as
 * `….stddev`; with `samplesAsBoots` a column per sample.
 */
export function runMatrix(iterations: Iteration[], samplesAsBoots: boolean): Matrix {
  const width = samplesAsBoots
    ? Math.max(...iterations.flatMap((i) => i.run.operations.map((o) => o.samples.length)))
    : 1;
  const boots = iterations.flatMap(({ name }) =>
    samplesAsBoots ? Array.from({ length: width }, (_, s) => `${name} sample ${s + 1}`) : [name],
  );
  const metrics = new Map<string, (number | null)[]>();
  const put = (metric: string, column: number, value: number) => {
    const row = metrics.get(metric) ?? boots.map(() => null);
    metrics.set(metric, row);
    row[column] = value;
  };
  iterations.forEach(({ run }, i) => {
    for (const { metric, op, samples } of run.operations) {
      const name = `${run.benchmark}.${metric}${op === '' ? '' : `-${op}`}`;
      if (samplesAsBoots) {
        samples.forEach((value, s) => void put(name, i * width + s, value));
        continue;
      }
      const mean = samples.reduce((a, b) => a + b, 0) / samples.length;
      put(name, i, mean);
      if (samples.length > 1)
        put(
          `${name}.stddev`,
          i,
          Math.sqrt(samples.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (samples.length - 1)),
        );
    }
    for (const [key, value] of Object.entries(run.duration ?? {})) put(`time.${key}`, i * width, value);
    if (run.vmstat)
      for (const [key, end] of Object.entries(run.vmstat.end))
        put(
          `proc-vmstat.${key}`,
          i * width,
          /^(nr_|workingset_nodes)/.test(key) ? end : end - (run.vmstat.start[key] ?? 0),
        );
  });
  return { boots, metrics };
}

function save(dir: string, name: string, matrix: Matrix): string {
  const file = join(dir, `${name.replace(/[^-\w.+=:%]/g, '_')}.matrix.json`);
  writeFileSync(file, writeMatrixJson(matrix));
  return file;
}

function report(files: string[], json?: boolean): void {
  process.stdout.write(json ? `${JSON.stringify({ files })}\n` : files.map((file) => `${file}\n`).join(''));
}

function attempt(work: () => void): void {
  try {
    work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!(error instanceof WorklogError) && code !== 'ENOENT' && code !== 'EACCES') throw error;
    process.stderr.write(`kdelta: ${(error as Error).message}\n`);
    process.exitCode = 2;
  }
}
