import { writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { cacheDir } from '@kdelta/home';
import { buildRegistry, type Matrix, samplesToBootValues, writeMatrixJson } from '@kdelta/matrix';
import { loadPrograms, type Programs, parseOutput, programRoots } from '@kdelta/programs';
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
      attempt(async () => {
        const names = listRuns(worklog, options.benchmark);
        if (names.length === 0) throw new WorklogError(`${worklog}: no run of ${options.benchmark}`);
        const programs = await loadPrograms(programRoots(process.env));
        const files: string[] = [];
        for (const name of names) {
          const iterations = readRun(worklog, options.benchmark, name);
          const monitors = await monitorValues(iterations, programs, cacheDir(process.env), (file, why) =>
            process.stderr.write(`kdelta: ${file}: left out: ${why}\n`),
          );
          files.push(save(options.out, name, runMatrix(iterations, options.samplesAsBoots ?? false, monitors)));
        }
        report(files, options.json);
      }),
    );
  command
    .command('vmregress')
    .description("NAME.matrix.json of one kernel's VM Regress folder")
    .argument('<dir>', '<kernel>/ with <pattern>_<size>/ in it')
    .option('-o, --out <dir>', 'folder for the file', '.')
    .option('--json', 'print the files written')
    .action((dir: string, options: { out: string; json?: boolean }) =>
      attempt(async () => report([save(options.out, basename(resolve(dir)), readVmregress(dir))], options.json)),
    );
  return command;
}

/**
 * What monitors of kdelta's names tell of each iteration: metric → its number of that boot. A file that can't be read is told
 * to `leftOut` and left out, as a monitor never fails a benchmark.
 */
export async function monitorValues(
  iterations: Iteration[],
  programs: Programs,
  cacheDir: string,
  leftOut: (file: string, why: string) => void,
): Promise<Map<string, number>[]> {
  const registry = buildRegistry(programs.values());
  const all: Map<string, number>[] = [];
  for (const { monitors } of iterations) {
    const values = new Map<string, number>();
    for (const [name, file] of Object.entries(monitors)) {
      const meta = programs.get(name);
      if (meta?.type !== 'monitor') continue;
      try {
        const { samples } = await parseOutput(meta, file, { cacheDir });
        for (const [metric, value] of samplesToBootValues(samples, registry)) values.set(metric, value);
      } catch (error) {
        leftOut(file, (error as Error).message);
      }
    }
    all.push(values);
  }
  return all;
}

/**
 * `BENCH.METRIC-OP` → one number per iteration of the run (its samples' mean), the within-run spread beside it as
 * `….stddev`; with `samplesAsBoots` a column per sample. Of monitors, which see the whole iteration, each number is in its first column.
 */
export function runMatrix(
  iterations: Iteration[],
  samplesAsBoots: boolean,
  monitors: Map<string, number>[] = [],
): Matrix {
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
    // Where the work log has the counters at start and end of the test itself, those count.
    for (const [metric, value] of monitors[i] ?? [])
      if (!run.vmstat || !metric.startsWith('proc-vmstat.')) put(metric, i * width, value);
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

async function attempt(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!(error instanceof WorklogError) && code !== 'ENOENT' && code !== 'EACCES') throw error;
    process.stderr.write(`kdelta: ${(error as Error).message}\n`);
    process.exitCode = 2;
  }
}
