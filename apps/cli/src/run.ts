import type { TimelineEntry } from '@kdelta/hosts';
import { overheadSeconds } from '@kdelta/runner';
import {
  expandOn,
  isFinished,
  openContext,
  readHost,
  readJobs,
  runStep,
  type StepContext,
  stepNamed,
  wantHost,
  wantTestcases,
} from '@kdelta/steps';
import { boot, host, insertEvent, kernel, loadMatrix, type RowOf, wantKernel } from '@kdelta/store';
import { Command, InvalidArgumentError } from 'commander';
import { and, asc, eq, inArray, or } from 'drizzle-orm';
import { resolveKernel } from './kernelName.ts';
import { openLog, outcome } from './outcome.ts';
import { showProgress } from './progress.ts';
import { bootFailures, bootTable } from './runTable.ts';

interface RunOptions {
  host: string;
  kernel: string;
  cmdline: string;
  kconfig?: string;
  boots?: number;
  save?: string;
  all?: boolean;
  json?: boolean;
  config?: string;
}

type BootRow = RowOf<typeof boot>;

/** `kdelta run JOB --host HOST --kernel KERNEL`: boots, runs and prints a table, without any tree. */
export function runCommand(): Command {
  return new Command('run')
    .description('boot a kernel on a host, run a job, print its numbers')
    .argument('<job>', 'a job file or configuration, its name in jobs/ or configs/, or a benchmark')
    .requiredOption('--host <host>', 'a host of hosts/')
    .requiredOption('--kernel <kernel>', 'deb:PACKAGE[=VERSION], TREE:COMMIT or REPOSITORY:COMMIT')
    .option('--cmdline <params>', 'boot parameters to add', '')
    .option('--kconfig <name>', 'base and fragments of kconfig/, joined by +, for a repository that is no tree')
    .option('--boots <n>', "how many boots (default: the job's)", positive)
    .option('--save <name>', 'keep the boots under this name, for kdelta compare')
    .option('--all', 'print all metrics, not only the benchmark’s')
    .option('--config <file>', 'kdelta.yaml')
    .option('--json', 'print {"matrix", "boots", "timeline"}')
    .action((job: string, options: RunOptions) => outcome((signal) => run(job, options, signal)));
}

function positive(text: string): number {
  const n = Number(text);
  if (!Number.isInteger(n) || n < 1 || n > 1000) throw new InvalidArgumentError('a whole number from 1 to 1000');
  return n;
}

async function run(jobName: string, options: RunOptions, signal: AbortSignal): Promise<0 | 1 | 3> {
  const log = openLog('warn');
  const world = await openContext({ log, signal, configFile: options.config });
  const { ctx } = world;
  const show = showProgress();
  const boots: number[] = [];
  try {
    const jobs = readJobs(ctx.dirs.home, jobName, ctx.programs);
    const host = readHost(ctx.dirs.home, world.env, options.host);
    const wanted = await resolveKernel(ctx, options.kernel, options.kconfig);
    const hostId = await wantHost(ctx.db, host);
    const kernelRow = await wantKernel(ctx.db, { ...wanted, cmdline: options.cmdline.trim(), priority: 20 });

    const failure = await buildIt(ctx, kernelRow.id, show.line);
    if (failure) {
      show.end();
      process.stderr.write(`kdelta: ${options.kernel}: ${failure.message}\n${failure.excerpt ?? ''}\n`);
      return failure.class === 'infra' || failure.class === 'bug' ? 3 : 1;
    }

    const results = [];
    for (const { job, text } of jobs) {
      show.line(`${host.name}: preparing`);
      const testcases = await wantTestcases(ctx.db, await expandOn(ctx, job, host), host, text);
      for (const testcase of testcases) {
        const each = options.boots ?? job.boots;
        const rows = await ctx.db
          .insert(boot)
          .values(
            Array.from({ length: each }, (_, seq) => ({
              kernelId: kernelRow.id,
              testcaseId: testcase.id,
              hostId,
              seq,
              priority: 20,
            })),
          )
          .returning({ id: boot.id });
        boots.push(...rows.map((row) => row.id));
        const finished = await bootAll(
          ctx,
          rows.map((row) => row.id),
          testcase.name,
          host.name,
          show.line,
        );
        results.push({ testcase, finished, matrix: await loadMatrix(ctx.db, doneOf(finished)) });
      }
    }
    show.end();
    if (options.save)
      await save(
        ctx,
        options.save,
        results.flatMap(({ finished }) => finished.map((row) => row.id)),
      );

    if (options.json) process.stdout.write(`${JSON.stringify(asJson(results))}\n`);
    else
      for (const { testcase, finished, matrix } of results)
        process.stdout.write(
          bootTable(matrix, {
            title: `${testcase.name} on ${host.name}, ${options.kernel}${options.cmdline ? ` ${options.cmdline}` : ''}`,
            program: testcase.program,
            metrics: ctx.metrics,
            all: options.all ?? false,
            overheads: finished.map((row) => overheadSeconds((row.timeline ?? []) as TimelineEntry[])),
          }),
        );
    const last = results.flatMap(({ finished }) => notRepeated(finished));
    process.stderr.write(bootFailures(last));
    return statusOf(last);
  } finally {
    show.end();
    if (boots.length > 0)
      await ctx.db
        .update(boot)
        .set({ state: 'cancelled', finishedAt: new Date() })
        .where(and(or(inArray(boot.id, boots), inArray(boot.retryOf, boots)), eq(boot.state, 'wanted')))
        .catch(() => {});
    await world.close();
  }
}

type KernelFailure = NonNullable<RowOf<typeof kernel>['failure']>;

/** Builds or fetches the kernel, here or by waiting for a worker that does; null when it is there. */
async function buildIt(ctx: StepContext, id: number, show: (line: string) => void): Promise<KernelFailure | null> {
  const read = async () => (await ctx.db.select().from(kernel).where(eq(kernel.id, id)))[0] as RowOf<typeof kernel>;
  const before = await read();
  // What failed for want of a network or disk may work today; what doesn't compile won't.
  if (before.state === 'failed' && before.failure?.class !== 'build')
    await ctx.db.update(kernel).set({ state: 'wanted', failure: null, attempt: 0 }).where(eq(kernel.id, id));
  const watch = watchProgress(async () => {
    const { progress } = await read();
    if (progress) show(`kernel: ${progress.phase}${progress.note ? ` ${progress.note}` : ''}`);
  });
  try {
    for (;;) {
      ctx.signal.throwIfAborted();
      const row = await read();
      if (row.state === 'built') return null;
      if (row.state === 'failed') return row.failure as KernelFailure;
      await runStep(ctx, stepNamed('build'), id);
      if ((await read()).state === 'wanted') await ctx.clock.sleep(1_000, ctx.signal);
    }
  } finally {
    watch();
  }
}

/** Runs the boots one after the other, and the repeats of those that failed through no fault of the kernel. */
async function bootAll(
  ctx: StepContext,
  ids: number[],
  testcase: string,
  name: string,
  show: (line: string) => void,
): Promise<BootRow[]> {
  const read = () =>
    ctx.db
      .select()
      .from(boot)
      .where(or(inArray(boot.id, ids), inArray(boot.retryOf, ids)))
      .orderBy(asc(boot.seq), asc(boot.id));
  const startedAt = Date.now();
  let rows = await read();
  const watch = watchProgress(async () => {
    rows = await read();
    const finished = rows.filter((row) => isFinished(row.state)).length;
    const current = rows.find((row) => !isFinished(row.state) && row.state !== 'wanted');
    const each = finished > 0 ? (Date.now() - startedAt) / 1000 / finished : null;
    const left = each === null ? '' : `, about ${Math.round(each * (rows.length - finished))} s left`;
    show(
      `${testcase} on ${name}: boot ${finished + 1} of ${rows.length}: ${current?.progress?.phase ?? 'waiting for the host'}${left}`,
    );
  });
  try {
    for (;;) {
      ctx.signal.throwIfAborted();
      rows = await read();
      for (const row of rows) if (!ids.includes(row.id)) ids.push(row.id);
      const next = rows.find((row) => !isFinished(row.state));
      if (!next) return rows;
      await runStep(ctx, stepNamed('boot'), next.id);
      const [after] = await ctx.db
        .select({ state: boot.state, host: host.state, failures: host.failures, note: host.note })
        .from(boot)
        .leftJoin(host, eq(host.id, boot.hostId))
        .where(eq(boot.id, next.id));
      if (after?.state === 'wanted' && (after.host === 'quarantined' || after.host === 'maintenance'))
        throw new Error(
          `KD_HOST_OUT: ${name} is ${after.host === 'maintenance' ? `in maintenance${after.note ? ` (${after.note})` : ''}` : `quarantined after ${after.failures} failed boots`}; look at it and bring it back on the dashboard's page of hosts`,
        );
      if (after && !isFinished(after.state)) await ctx.clock.sleep(500, ctx.signal);
    }
  } finally {
    watch();
  }
}

function watchProgress(look: () => Promise<void>): () => void {
  const timer = setInterval(() => void look().catch(() => {}), 1_000);
  return () => clearInterval(timer);
}

/** The boots get the name; those that had it before lose it. */
async function save(ctx: StepContext, name: string, ids: number[]): Promise<void> {
  await ctx.store.transact(async (tx) => {
    await tx.update(boot).set({ savedAs: null }).where(eq(boot.savedAs, name));
    await tx.update(boot).set({ savedAs: name }).where(inArray(boot.id, ids));
    await insertEvent(tx, { kind: 'boots.saved', subject: `saved:${name}`, data: { boots: ids } });
  });
}

function doneOf(rows: BootRow[]): number[] {
  return rows.filter((row) => row.state === 'done').map((row) => row.id);
}

function notRepeated(rows: BootRow[]): BootRow[] {
  return rows.filter((row) => !rows.some((other) => other.retryOf === row.id));
}

function statusOf(last: BootRow[]): 0 | 1 | 3 {
  if (last.some((row) => row.failure?.class === 'infra' || row.failure?.class === 'bug')) return 3;
  return last.some((row) => row.state !== 'done') ? 1 : 0;
}

interface Result {
  testcase: { name: string };
  finished: BootRow[];
  matrix: Awaited<ReturnType<typeof loadMatrix>>;
}

function asJson(results: Result[]): unknown {
  const one = ({ testcase, finished, matrix }: Result) => ({
    testcase: testcase.name,
    // The columns are `boots`, in order.
    matrix: Object.fromEntries(matrix.metrics),
    boots: finished.map((row) => ({
      id: row.id,
      state: row.state,
      failure: row.failure,
      boot_id: row.bootUuid,
      token: row.token,
      started_at: row.startedAt,
      finished_at: row.finishedAt,
      overhead_seconds: overheadSeconds((row.timeline ?? []) as TimelineEntry[]),
    })),
    timeline: finished.flatMap((row) => (row.timeline ?? []).map((entry) => ({ boot: row.id, ...entry }))),
  });
  const [first] = results;
  if (results.length === 1 && first) return one(first);
  return { ...(first ? one(first) : {}), testcases: results.map(one) };
}
