import { access, mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { consoleText, lastLines } from '@kdelta/hosts';
import type { HostFile, Testcase } from '@kdelta/jobs';
import { type KernelArtifact, unmetKconfig } from '@kdelta/kernels';
import { samplesToBootValues } from '@kdelta/matrix';
import { parseOutput } from '@kdelta/programs';
import {
  boot,
  type Db,
  type Failure,
  findReadyBoots,
  host,
  insertArtifact,
  insertEvent,
  kernel,
  type Lease,
  leaseHost,
  lockLease,
  type RowOf,
  releaseHost,
  renewLease,
  type Stored,
  StoreError,
  saveBootMatrix,
  takeBackClaims,
} from '@kdelta/store';
import { and, eq, isNull, sql } from 'drizzle-orm';
import type { BootResult } from './bootHost.ts';
import { specOf } from './build.ts';
import type { Next, Step, StepContext, StepDef } from './context.ts';
import { advancePair, jobOf, openBoots, readyBoots } from './pairLife.ts';
import { writeProgress } from './progress.ts';
import { leaveOutHosts, restartBlock } from './restartBlock.ts';
import { type Claimed, claimTtlMs, keepAlive, TryAgain, withClaim } from './withClaim.ts';

/*
 * The life of a boot:
 *
 *   wanted → claimed (a host is leased) → booting → running → collecting → done | failed
 *      ▲                                                         │
 *      └── the worker died or was stopped: with `work_dir` set a guest may still run, and the next worker reattaches
 *
 * Its last write is one transaction: the matrix, the files, the state, the end of lease and claim, and what its owner (a
 * pair or a bisect) wants next. A boot of class `infra` is repeated by a new row (`retry_of`), three times at most.
 */

type BootRow = RowOf<typeof boot>;

/** How often a boot is repeated for faults that aren't the kernel's. */
const infraRetries = 3;
/** How often a bug of ours may break a boot before it is written off. */
const maxAttempts = 4;
/** How often a boot may lose its worker: one that takes its worker down each time must not do so for ever. */
const workersLost = 12;

const run: Step = async (ctx, id) => {
  const places = await findReadyBoots(ctx.db, id);
  if (places.length === 0) return;
  await withClaim(
    ctx,
    boot,
    id,
    {
      from: ['wanted'],
      to: 'claimed',
      maxAttempts,
      onBug: (tx, row, error) => {
        const failure: Failure = { class: 'bug', code: 'KD_BUG', message: error.message };
        return settle(tx, row, { ...nothing, failure }, null);
      },
    },
    async (claimed) => {
      if (claimed.row.attempt >= workersLost) {
        const message = `${claimed.row.attempt} workers or leases were lost while they ran this boot`;
        const failure: Failure = { class: 'infra', code: 'KD_WORKER_LOST', message };
        await claimed.finish((tx, row) => settle(tx, row, { ...nothing, failure }, null));
        return;
      }
      const lease = await leaseOne(
        ctx,
        id,
        claimed.token,
        places.map((place) => place.hostId),
      );
      if (!lease) return;
      await onHost(ctx, claimed, lease);
    },
  );
};

export const bootStep: StepDef = {
  name: 'boot',
  run,
  due: (db, id) => findReadyBoots(db, id),
  takeBack: async (db) => {
    const back = await takeBackClaims(db, boot, ['wanted', 'claimed', 'booting', 'running', 'collecting'], 'wanted');
    return back.length + (await leaveOutHosts(db));
  },
};

const nothing: BootResult = { failure: null, evidence: null, timeline: [], environment: {}, outputs: [], files: [] };

async function leaseOne(ctx: StepContext, id: number, owner: string, hostIds: number[]): Promise<Lease | null> {
  for (const hostId of hostIds) {
    const lease = await leaseHost(ctx.db, hostId, id, owner, ctx.claimTtlMs ?? claimTtlMs);
    if (lease) return lease;
  }
  return null;
}

/** Everything that happens while the host is ours. */
async function onHost(ctx: StepContext, claimed: Claimed<typeof boot>, lease: Lease): Promise<void> {
  const { row, token } = claimed;
  const lost = new AbortController();
  const ttlMs = ctx.claimTtlMs ?? claimTtlMs;
  const heart = keepAlive(async () => {
    if (!(await renewLease(ctx.db, lease, ttlMs))) lost.abort(leaseLost(lease));
  }, ttlMs / 3);
  let settled = false;
  try {
    const dir = join(ctx.dirs.state, 'boots', String(row.id));
    const started = await startRow(ctx, row, token, lease, dir);
    // Other hosts may take what this one doesn't.
    await ctx.enqueue(await readyBoots(ctx.db));

    const signal = AbortSignal.any([claimed.signal, lost.signal]);
    const result = await runOnHost(ctx, started, dir, token, signal);
    signal.throwIfAborted();
    const kept = await keepResult(ctx, started, result);
    await claimed.finish(async (tx, mine) => {
      // Whoever has the host by now may have rebooted it under us: what was measured since is nobody's.
      if (!(await lockLease(tx, lease))) throw leaseLost(lease);
      const next = await settle(tx, mine, kept.result, kept);
      await releaseHost(tx, lease, kept.result.failure?.class === 'infra' ? 'failed' : 'good');
      return [...next, ...(await readyBoots(tx))];
    });
    settled = true;
    await rm(dir, { recursive: true, force: true }).catch(() => {});
  } catch (error) {
    // Neither the kernel's fault nor a bug: the boot is started again, on whatever host is free.
    const reason = lost.signal.aborted ? (lost.signal.reason as Error) : error;
    if (reason instanceof StoreError && reason.code === 'KD_LEASE_LOST' && !claimed.signal.aborted)
      throw new TryAgain(reason.message);
    throw error;
  } finally {
    heart();
    if (!settled) await releaseHost(ctx.db, lease, 'unknown').catch(() => {});
  }
}

function leaseLost(lease: Lease): StoreError {
  return new StoreError('KD_LEASE_LOST', `host ${lease.hostId} has been leased to another boot`);
}

/** Notes host, folder and start; the boots of its block go to the same host. */
async function startRow(ctx: StepContext, row: BootRow, token: string, lease: Lease, dir: string): Promise<BootRow> {
  await mkdir(dir, { recursive: true });
  return ctx.store.transact(async (tx) => {
    const [started] = await tx
      .update(boot)
      .set({ hostId: lease.hostId, epoch: lease.epoch, workDir: dir, startedAt: row.startedAt ?? new Date() })
      .where(and(eq(boot.id, row.id), eq(boot.claim, token)))
      .returning();
    if (!started) throw new StoreError('KD_CLAIM_LOST', `another worker has taken over boot ${row.id}`);
    const owner = row.pairId ? eq(boot.pairId, row.pairId) : row.bisectId ? eq(boot.bisectId, row.bisectId) : null;
    if (owner)
      await tx
        .update(boot)
        .set({ hostId: lease.hostId })
        .where(and(owner, eq(boot.block, row.block), eq(boot.state, 'wanted'), isNull(boot.hostId)));
    await insertEvent(tx, { kind: 'boot.started', subject: `boot:${row.id}`, data: { hostId: lease.hostId } });
    // The row as it was before: `work_dir` says whether another worker had begun it.
    return { ...started, workDir: row.workDir };
  });
}

async function runOnHost(
  ctx: StepContext,
  row: BootRow,
  dir: string,
  token: string,
  signal: AbortSignal,
): Promise<BootResult> {
  const [onRow] = await ctx.db
    .select()
    .from(host)
    .where(eq(host.id, row.hostId as number));
  const file = onRow?.config as HostFile;
  const [kernelRow] = await ctx.db.select().from(kernel).where(eq(kernel.id, row.kernelId));
  const progress = writeProgress(ctx, boot, row.id, token);
  const work = {
    host: file,
    kernel: await artifactOf(ctx, kernelRow as RowOf<typeof kernel>, signal),
    cmdline: kernelRow?.cmdline ?? '',
    testcase: await jobOf(ctx.db, row.testcaseId),
    dir,
  };
  const unmet = await unmetNeeds(work.kernel, work.testcase);
  if (unmet) return { ...nothing, failure: unmet };
  const options = {
    signal,
    onProgress: (state: 'booting' | 'running' | 'collecting', p: Parameters<typeof progress>[0]) => progress(p, state),
  };
  if (row.workDir !== null) {
    const resumed = await ctx.bootHost({ ...work, token: row.token, resume: true }, options);
    if (resumed) return resumed;
    // Nothing of it is left: what may come back under the old token must not be taken for the new start.
    await rm(dir, { recursive: true, force: true });
    await mkdir(dir, { recursive: true });
    const [renewed] = await ctx.db
      .update(boot)
      .set({ token: sql`gen_random_uuid()`, startedAt: new Date() })
      .where(and(eq(boot.id, row.id), eq(boot.claim, token)))
      .returning({ token: boot.token });
    if (!renewed) throw new StoreError('KD_CLAIM_LOST', `another worker has taken over boot ${row.id}`);
    // What ran under the old token counts for nothing, and is accounted for.
    await insertEvent(ctx.db, { kind: 'boot.abandoned', subject: `boot:${row.id}`, data: { token: row.token } });
    row = { ...row, token: renewed.token };
  }
  const result = await ctx.bootHost({ ...work, token: row.token, resume: false }, options);
  if (!result) throw new Error(`boot ${row.id} was started anew and gave no result`);
  return result;
}

/** A kernel without what the job needs is not booted: it would fail in ways that look like the kernel's fault. */
async function unmetNeeds(kernel: KernelArtifact, testcase: Testcase): Promise<Failure | null> {
  const needs = testcase.needKconfig ?? {};
  if (Object.keys(needs).length === 0 || !kernel.config) return null;
  const unmet = unmetKconfig(await readFile(kernel.config, 'utf8'), needs);
  if (unmet.length === 0) return null;
  const message = `the kernel lacks what the job needs (need_kconfig): ${unmet.join(', ')}`;
  return { class: 'test', code: 'KD_TEST_NEEDS_KCONFIG', message };
}

/** The kernel's files; made again when the cache was pruned. */
async function artifactOf(ctx: StepContext, row: RowOf<typeof kernel>, signal: AbortSignal): Promise<KernelArtifact> {
  const artifact = row.artifact as KernelArtifact;
  const there = await access(artifact.image).then(
    () => true,
    () => false,
  );
  if (there) return artifact;
  const outcome = await ctx.buildKernel(await specOf(ctx, row), { signal, onProgress: () => {} });
  if (outcome.kind === 'failed')
    throw new TryAgain(`kernel ${row.id} left the cache and can't be made again: ${outcome.message}`);
  return outcome.artifact;
}

interface Kept {
  result: BootResult;
  values: Map<string, number>;
  kpis: Set<string>;
  files: [string, Stored][];
}

/** Parses what was collected and puts the files away. */
async function keepResult(ctx: StepContext, row: BootRow, result: BootResult): Promise<Kept> {
  const files: [string, Stored][] = [];
  for (const { name, path } of result.files) files.push([name, await ctx.artifacts.putFile(path)]);

  const job = await jobOf(ctx.db, row.testcaseId);
  const samples: Record<string, number[]> = {};
  let { failure } = result;
  for (const { program, path } of failure ? [] : result.outputs) {
    const meta = ctx.programs.get(program);
    if (!meta) continue;
    try {
      const parsed = await parseOutput(meta, path, { cacheDir: ctx.dirs.cache });
      Object.assign(samples, parsed.samples);
      if (program === job.program && parsed.missing.length > 0)
        failure = incomplete(program, parsed.missing, lastLines(await consoleText(path, 4096), 10));
    } catch (error) {
      const message = `the output of ${program} can't be read: ${(error as Error).message}`;
      if (program === job.program) failure = { class: 'test', code: 'KD_TEST_OUTPUT', message };
      else ctx.log.warn({ boot: row.id, program, err: error }, 'a monitor’s output was left out');
    }
  }
  if (!failure && !result.outputs.some(({ program }) => program === job.program))
    failure = incomplete(job.program, ['its output'], '');
  const values = failure ? new Map<string, number>() : samplesToBootValues(samples, ctx.metrics);
  const kpis = new Set([...values.keys()].filter((name) => ctx.metrics.lookup(name).kpi));
  return { result: { ...result, failure }, values, kpis, files };
}

/** With the last lines of what it printed: there a parser's author sees why it found nothing. */
function incomplete(program: string, missing: string[], excerpt: string): Failure {
  const message = `${program} ended without ${missing.join(', ')}`;
  return { class: 'test', code: 'KD_TEST_INCOMPLETE', message, ...(excerpt ? { excerpt } : {}) };
}

/** The boot's last write, but for lease and claim: what it gave, and what comes of it. */
async function settle(tx: Db, row: BootRow, result: BootResult, kept: Kept | null): Promise<Next[]> {
  const { failure } = result;
  await tx
    .update(boot)
    .set({
      state: failure ? 'failed' : 'done',
      failure,
      bootUuid: result.evidence?.bootId ?? null,
      timeline: result.timeline,
      environment: result.environment,
      finishedAt: new Date(),
      progress: null,
      workDir: null,
    })
    .where(eq(boot.id, row.id));
  if (kept && kept.values.size > 0)
    await saveBootMatrix(tx, { bootId: row.id, testcaseId: row.testcaseId, values: kept.values, kpis: kept.kpis });
  for (const [name, stored] of kept?.files ?? []) await insertArtifact(tx, { bootId: row.id }, name, stored);
  await insertEvent(tx, {
    kind: failure ? 'boot.failed' : 'boot.done',
    subject: `boot:${row.id}`,
    data: failure ? { class: failure.class, message: failure.message } : { metrics: kept?.values.size ?? 0 },
  });
  if (failure) await repeat(tx, row, failure);
  return nextOfOwner(tx, row);
}

/** Asks for another boot where the failure may not be the kernel's, or where one isn't enough to say that it is. */
async function repeat(tx: Db, row: BootRow, failure: Failure): Promise<void> {
  if (failure.class !== 'infra' && failure.class !== 'boot') return;
  const tries = await triesOf(tx, row);
  if (tries >= (failure.class === 'infra' ? infraRetries : 1)) return;
  const { kernelId, testcaseId, pairId, bisectId, savedAs, block, seq, priority } = row;
  const again = { kernelId, testcaseId, pairId, bisectId, savedAs, priority, retryOf: row.id };
  const otherHost = failure.class === 'infra' && (await anotherHost(tx, row));
  if (!otherHost) {
    await tx.insert(boot).values({ ...again, block, seq, hostId: row.hostId });
    return;
  }
  if (!pairId) {
    await tx.insert(boot).values({ ...again, block, seq });
    return;
  }
  // Another host starts the block again.
  await restartBlock(tx, pairId, block, row);
}

async function triesOf(tx: Db, row: BootRow): Promise<number> {
  let tries = 0;
  for (let at = row.retryOf; at !== null; tries++) {
    const [before] = await tx.select({ retryOf: boot.retryOf }).from(boot).where(eq(boot.id, at));
    at = before?.retryOf ?? null;
  }
  return tries;
}

async function anotherHost(tx: Db, row: BootRow): Promise<boolean> {
  const { rows } = await tx.execute(sql`
    select 1 from host h join testcase t on t.tbox_group = h.tbox_group
     where t.id = ${row.testcaseId} and h.id is distinct from ${row.hostId}
       and h.state not in ('quarantined', 'maintenance') limit 1`);
  return rows.length > 0;
}

async function nextOfOwner(tx: Db, row: BootRow): Promise<Next[]> {
  if (row.pairId) return advancePair(tx, row.pairId);
  if (row.bisectId && (await openBoots(tx, row.bisectId)) === 0) return [{ step: 'bisect', id: row.bisectId }];
  return [];
}
