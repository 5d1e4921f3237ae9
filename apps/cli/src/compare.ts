import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { buildRegistry, type Matrix, MatrixError, matrixFromObject, parseMatrix, type Registry } from '@kdelta/matrix';
import { type Delta, type Judgement, judge } from '@kdelta/stats';
import { Command } from 'commander';
import type { MmtestsOptions } from './mmtests/compare.ts';

interface Options extends MmtestsOptions {
  style?: string;
  history?: string[];
  all?: boolean;
  kpi?: boolean;
  explain?: boolean;
  json?: boolean;
  csv?: boolean;
  jsonl?: boolean;
  deterministic?: boolean;
  want?: string;
  testcase?: string;
  form?: string;
}

/**
 * `kdelta compare BASE HEAD [MORE…]`: judges matrices against the first one and prints the table.
 * Exit status: 0 done, 1 a KPI regressed, 2 bad input (one line on stderr says what and where), 3 could not be done.
 */
export function compareCommand(): Command {
  return new Command('compare')
    .description('judge kernels by their matrices')
    .argument('[base]', 'matrix file (JSON, CSV, gzipped), a saved name, or tree:commit with --testcase')
    .argument('[heads...]', 'one or more to compare with it')
    .option('--history <file...>', 'boots of other kernels at the same testcase, oldest first: tell the noise')
    .option('--all', 'all metrics, also the unchanged')
    .option('--kpi', 'KPIs only')
    .option('--explain', 'interval, p, q, smallest detectable change, flags and the boots one by one')
    .option('--json', 'print the judgements as JSON')
    .option('--csv', 'print one line per metric as CSV')
    .option('--jsonl', 'read comparisons from stdin, one JSON object per line, and print one result per line')
    .option('--deterministic', 'the host counts instructions: floor 0.2 %, want 0.5 %')
    .option('--want <percent>', 'no change means: the 95 % interval of a KPI lies within ± this')
    .option('--testcase <name>', 'for tree:commit arguments')
    .option('--style <style>', 'ncompare, contest, or mmtests: gains positive, operations by client', 'ncompare')
    .option('--form <form>', 'contest: seed (Kernel Time CPU) or later (with runs, loads and ratio)', 'later')
    .option('-d, --directory <dir>', 'mmtests: an MMTests work log (work/log) instead of matrices')
    .option('-b, --benchmark <name>', 'mmtests: benchmark of the work log', 'pft')
    .option('-n, --runs <names>', 'mmtests: run names of the work log, separated by commas')
    .option('--layout <release>', "mmtests: 0.05's or today's (head)", '0.05')
    .option(
      '--apart',
      'mmtests, repaired: wide numbers keep apart, significance is by Welch’s t test instead of disjoint spreads',
    )
    .option('--print-ratio', 'mmtests: ratios to the first run')
    .option('--print-monitor <name>', 'mmtests: duration or vmstat')
    .action(async (base: string | undefined, heads: string[], options: Options) => {
      process.exitCode = await run(base, heads, options);
    });
}

class UsageError extends Error {}

async function run(base: string | undefined, heads: string[], options: Options): Promise<number> {
  try {
    if (options.jsonl) return await compareLines();
    if (options.style === 'mmtests')
      return await compareMmtests([...(base === undefined ? [] : [base]), ...heads], options);
    if (options.style === 'contest')
      return await compareContest([...(base === undefined ? [] : [base]), ...heads], options);
    if (options.style !== 'ncompare')
      throw new UsageError(`--style ${options.style}: there are ncompare, mmtests, contest`);
    if (base === undefined || heads.length === 0) {
      throw new UsageError('compare needs a base and a head: kdelta compare BASE HEAD [MORE…]');
    }
    return await compareFiles([base, ...heads], options);
  } catch (error) {
    const bad = error instanceof MatrixError || error instanceof UsageError;
    process.stderr.write(`kdelta: ${(error as Error).message}\n`);
    if (bad) return 2;
    return (error as { exitStatus?: number }).exitStatus ?? 3;
  }
}

async function compareFiles(names: string[], options: Options): Promise<number> {
  const named = await resolveArguments(names, options.testcase);
  const matrices = named.matrices;
  const history: Matrix[] = [...named.history];
  for (const name of options.history ?? []) history.push(await resolveMatrixArgument(name, options.testcase));
  const deterministic = options.deterministic ?? named.deterministic;
  const registry = await readRegistry(matrices);
  const wantPct = options.want === undefined ? undefined : Number(options.want);
  if (wantPct !== undefined && !(wantPct > 0))
    throw new UsageError(`--want ${options.want}: expected a percentage > 0`);
  const [base, ...heads] = matrices as [Matrix, ...Matrix[]];
  const judgements = heads.map((head, i) => {
    requireCommon(base, head, names[0]!, names[i + 1]!, registry);
    return judge({ base, head, history, registry, deterministic, wantPct });
  });
  const printed = options.kpi && !options.all ? judgements.map(onlyKpis) : judgements;
  const output = options.json
    ? `${JSON.stringify(heads.length === 1 ? judgementJson(printed[0]!) : printed.map(judgementJson))}\n`
    : options.csv
      ? csvOf(printed, names.slice(1))
      : await tableOf(names, matrices, judgements, options);
  process.stdout.write(output);
  const regressed = judgements.some((judgement) => judgement.deltas.some((d) => d.kpi && d.verdict === 'regression'));
  return regressed ? 1 : 0;
}

function onlyKpis(judgement: Judgement): Judgement {
  return { ...judgement, deltas: judgement.deltas.filter((delta) => delta.kpi) };
}

/** MMTests' table of matrices, or of a work log's runs; it judges nothing, so its exit status is 0. */
async function compareMmtests(names: string[], options: Options): Promise<number> {
  const { matrixRun, mmtestsJson, printMmtests, worklogRuns } = await import('./mmtests/compare.ts');
  const { WorklogError } = await import('./mmtests/worklog.ts');
  try {
    const runs = options.directory === undefined ? [] : worklogRuns(options);
    for (const name of names) {
      const matrix = await resolveMatrixArgument(name, options.testcase);
      runs.push(matrixRun(headingOf(name), matrix, await readRegistry([matrix])));
    }
    if (runs.length === 0) throw new UsageError('compare --style mmtests needs matrices, or -d DIR -n RUN,RUN');
    process.stdout.write(options.json ? `${JSON.stringify(mmtestsJson(runs))}\n` : printMmtests(runs, options));
    return 0;
  } catch (error) {
    if (error instanceof WorklogError || error instanceof RangeError) throw new UsageError(error.message);
    throw error;
  }
}

/** contest's tables of matrices, a load each; it judges nothing, so its exit status is 0. */
async function compareContest(names: string[], options: Options): Promise<number> {
  if (options.form !== 'seed' && options.form !== 'later')
    throw new UsageError(`--form ${options.form}: there are seed, later`);
  if (names.length === 0) throw new UsageError('compare --style contest needs one matrix or more');
  const { renderContest } = await import('@kdelta/report');
  const { matrices } = await resolveArguments(names, options.testcase);
  try {
    const runs = matrices.map((matrix, i) => ({ name: headingOf(names[i]!), matrix }));
    process.stdout.write(renderContest(runs, options.form));
    return 0;
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(`${names.join(', ')}: ${error.message}`);
    throw error;
  }
}

/**
 * Matrices by what a person typed: files; otherwise saved names or `tree:commit` (with `--testcase`), which need the
 * database. The database part is loaded only then: plain files must not pay for it. What the database knows of the
 * testcase (a deterministic host, earlier boots) comes along when all of them are stored.
 */
async function resolveArguments(
  names: string[],
  testcase?: string,
): Promise<{ matrices: Matrix[]; history: Matrix[]; deterministic?: boolean }> {
  const files = names.map((name) => readFile(name));
  if (!files.includes(null)) return { matrices: files as Matrix[], history: [] };
  const { loadStored } = await import('./storedMatrix.ts');
  const stored = await loadStored(
    names.filter((_, i) => files[i] === null),
    testcase,
  );
  const found = stored.found.values();
  const matrices = files.map((file) => file ?? found.next().value!.matrix);
  const all = stored.found.length === names.length;
  return {
    matrices,
    history: all ? stored.history : [],
    deterministic: stored.found.every((one) => one.deterministic) || undefined,
  };
}

/** One argument as `resolveArguments` takes several. */
export async function resolveMatrixArgument(argument: string, testcase?: string): Promise<Matrix> {
  return (await resolveArguments([argument], testcase)).matrices[0]!;
}

/** A matrix file; null when there is none of that name. */
function readFile(argument: string): Matrix | null {
  let bytes: Buffer;
  try {
    bytes = readFileSync(argument);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EISDIR') throw new UsageError(`${argument}: is a folder; expected a matrix file`);
    if (code !== 'ENOENT') throw new UsageError(`${argument}: cannot be read: ${(error as Error).message}`);
    return null;
  }
  return parseMatrix(bytes, argument);
}

function requireCommon(base: Matrix, head: Matrix, baseName: string, headName: string, registry: Registry): void {
  for (const name of head.metrics.keys()) if (base.metrics.has(name)) return;
  const names = new Set([...base.metrics.keys()].map((name) => registry.canonical(name)));
  for (const name of head.metrics.keys()) if (names.has(registry.canonical(name))) return;
  throw new UsageError(`${baseName} and ${headName} have no metric in common; are they of the same testcase?`);
}

async function tableOf(
  names: string[],
  matrices: Matrix[],
  judgements: Judgement[],
  options: Options,
): Promise<string> {
  const { renderExplain, renderTable } = await import('@kdelta/report/table');
  const columns = matrices.map((matrix, i) => ({ heading: headingOf(names[i]!), matrix }));
  const deltas = judgements.map((judgement) => judgement.deltas);
  const rows = options.all ? 'all' : options.kpi ? 'kpi' : 'changed';
  const table = options.explain ? renderExplain({ columns, deltas, rows }) : renderTable({ columns, deltas, rows });
  const lines = judgements.map((j, i) => (judgements.length > 1 ? `${headingOf(names[i + 1]!)}: ${j.line}` : j.line));
  return `${lines.join('\n')}\n\n${table}`;
}

function headingOf(name: string): string {
  return name
    .replace(/^.*\//, '')
    .replace(/\.gz$/, '')
    .replace(/\.(matrix\.)?(json|csv)$/, '');
}

/** One result line per input line; a line that is wrong gets a result with `error`, and exit status 2 at the end. */
async function compareLines(): Promise<number> {
  let status = 0;
  let number = 0;
  let pending = '';
  const registries = new Map<string, Registry>();
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    number++;
    if (line.trim() === '') continue;
    const result = await compareLine(line, number, registries);
    if ('error' in result) {
      status = 2;
      process.stderr.write(`kdelta: ${result.error}\n`);
    }
    pending += `${JSON.stringify(result)}\n`;
    if (pending.length > 1 << 20) {
      if (!process.stdout.write(pending)) await new Promise((resolve) => process.stdout.once('drain', resolve));
      pending = '';
    }
  }
  process.stdout.write(pending);
  return status;
}

async function compareLine(line: string, number: number, registries: Map<string, Registry>) {
  let id: unknown = null;
  try {
    const input = JSON.parse(line) as Record<string, unknown>;
    if (input === null || typeof input !== 'object' || Array.isArray(input)) throw new UsageError('expected an object');
    id = input.id ?? null;
    const base = matrixFromObject(input.base, 'base');
    const head = matrixFromObject(input.head, 'head');
    const past = input.history === undefined || input.history === null ? [] : input.history;
    const history = (Array.isArray(past) ? past : [past]).map((matrix, i) => matrixFromObject(matrix, `history[${i}]`));
    const registry = await registryOf([base, head], registries);
    requireCommon(base, head, 'base', 'head', registry);
    return {
      id,
      ...judgementJson(judge({ base, head, history, registry, deterministic: input.deterministic === true })),
    };
  } catch (error) {
    return { id, error: `line ${number}: ${(error as Error).message}` };
  }
}

/** Comparisons of the same programs share a registry, and with it what it has looked up. */
async function registryOf(matrices: Matrix[], known: Map<string, Registry>): Promise<Registry> {
  const programs = new Set<string>();
  for (const matrix of matrices) {
    for (const metric of matrix.metrics.keys()) programs.add(metric.slice(0, metric.indexOf('.')));
  }
  const key = [...programs].sort().join(' ');
  const registry = known.get(key) ?? (await readRegistry(matrices));
  known.set(key, registry);
  return registry;
}

/** A judgement in the words of the command's JSON. */
export function judgementJson(judgement: Judgement) {
  return {
    verdict: judgement.verdict,
    line: judgement.line,
    want_more: judgement.wantMore,
    judge_version: judgement.judgeVersion,
    deltas: judgement.deltas.map((delta) => ({
      metric: delta.metric,
      base: { n: delta.base.n, mean: delta.base.mean, stddev: delta.base.stddev },
      head: { n: delta.head.n, mean: delta.head.mean, stddev: delta.head.stddev },
      change_pct: delta.changePct,
      ci95_pct: delta.ci95Pct,
      p: delta.p,
      q: delta.q,
      detectable_pct: delta.detectablePct,
      verdict: delta.verdict,
      kpi: delta.kpi,
      flags: delta.flags,
    })),
  };
}

function csvOf(judgements: Judgement[], heads: string[]): string {
  const header =
    'head,metric,kpi,verdict,base_n,base_mean,base_stddev,head_n,head_mean,head_stddev,change_pct,ci95_low_pct,ci95_high_pct,p,q,detectable_pct,flags';
  const lines = judgements.flatMap((judgement, i) =>
    judgement.deltas.map((delta: Delta) =>
      [
        quote(heads[i]!),
        quote(delta.metric),
        delta.kpi,
        delta.verdict,
        delta.base.n,
        delta.base.mean,
        delta.base.stddev,
        delta.head.n,
        delta.head.mean,
        delta.head.stddev,
        delta.changePct,
        delta.ci95Pct?.[0],
        delta.ci95Pct?.[1],
        delta.p,
        delta.q,
        delta.detectablePct,
        delta.flags.join(' '),
      ]
        .map((cell) => cell ?? '')
        .join(','),
    ),
  );
  return `${[header, ...lines].join('\n')}\n`;
}

function quote(cell: string): string {
  return /[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/**
 * The facts of the programs whose names the metrics begin with, over the pattern rules. Only those folders are read:
 * most matrices name few programs, and reading all would cost more than the comparison.
 */
async function readRegistry(matrices: Matrix[]): Promise<Registry> {
  const names = new Set<string>();
  for (const matrix of matrices) {
    for (const metric of matrix.metrics.keys()) {
      const name = metric.slice(0, metric.indexOf('.'));
      if (/^[\w-]+$/.test(name)) names.add(name);
    }
  }
  const { existsSync } = await import('node:fs');
  const { homeDir } = await import('@kdelta/home/folders');
  const roots = [
    ...(process.env.KDELTA_PROGRAMS ?? '').split(':').filter((dir) => dir !== ''),
    `${homeDir()}/programs`,
  ];
  const folders = [...names].map((name) =>
    roots.map((root) => `${root}/${name}`).find((dir) => existsSync(`${dir}/meta.yaml`)),
  );
  const found = folders.filter((dir) => dir !== undefined);
  if (found.length === 0) return buildRegistry();
  const { readMeta } = await import('@kdelta/programs/meta');
  const metas = await Promise.all(found.map((dir) => readMeta(dir)));
  return buildRegistry(metas.filter((meta) => meta !== null && meta !== undefined));
}
