import { type Next as BisectNext, next, posterior } from '@kdelta/bisect';
import {
  bisect,
  bisectProbe,
  boot,
  type Db,
  insertEvent,
  pair,
  takeBackClaims,
  wantBoots,
  wantKernel,
  wantPair,
} from '@kdelta/store';
import { and, eq, inArray, sql } from 'drizzle-orm';
import { type BisectRow, type KernelRow, loadSearch, type ProbeRow, type SearchState } from './bisectSearch.ts';
import type { Next, StepContext, StepDef } from './context.ts';
import { advancePair, readyBoots } from './pairLife.ts';
import { only, unclaimed, withClaim } from './withClaim.ts';

type Wanted = Extract<BisectNext, { kind: 'confirm-ends' | 'probe' | 'verify' }>;
type Verify = Extract<BisectNext, { kind: 'verify' }>;

/**
 * One turn of a bisect. The search (packages/bisect) is rebuilt from the stored boots each time, so a restart, a boot
 * counted by another bisect or a second worker changes nothing: the same boots give the same next step.
 *
 *     wanted ──► running ──(probe: kernel and boots wanted; their end wakes the bisect again)──► running …
 *                   │ certain enough
 *                   ▼
 *               verifying: culprit against its parent, a pair of its own, interleaved ──► judged ──► done ──► report
 *
 * A commit that doesn't build or boot is stepped around: it stays a candidate and isn't probed.
 */
export const bisectStep: StepDef = {
  name: 'bisect',
  run: bisectTurn,
  due: (db, id) =>
    db
      .select({ id: bisect.id, attempt: bisect.attempt })
      .from(bisect)
      .where(
        and(
          only(bisect, id),
          unclaimed(bisect),
          inArray(bisect.state, ['wanted', 'running', 'verifying']),
          // Nothing that it asked for is still to come.
          sql`not exists (select 1 from boot b join kernel k on k.id = b.kernel_id
                where b.bisect_id = ${bisect.id} and k.state <> 'failed' and b.state not in ('done', 'failed', 'cancelled'))`,
          sql`not exists (select 1 from pair p
                where p.id = ${bisect.verifyPairId} and p.state not in ('judged', 'failed', 'cancelled'))`,
        ),
      ),
  takeBack: async (db) => (await takeBackClaims(db, bisect, ['wanted', 'running', 'verifying'])).length,
};

async function bisectTurn(ctx: StepContext, id: number): Promise<void> {
  const onBug = async (tx: Db, row: BisectRow, error: Error) => {
    await endBisect(tx, ctx, row, { state: 'failed', reason: error.message });
    return [];
  };
  await withClaim(ctx, bisect, id, { from: ['wanted', 'running', 'verifying'], onBug }, async ({ row, finish }) => {
    if (row.verifyPairId !== null && (await isOpenPair(ctx.db, row.verifyPairId))) return;
    const state = await loadSearch(ctx, row);
    if (hasOpenBoots(state)) return;
    const built = new Set([...state.kernels].filter(([, k]) => k.state === 'built').map(([sha]) => sha));
    const step = next(state.search, { built, hosts: 1 });
    const after = rounded(posterior(state.search));

    await finish(async (tx) => {
      await closeProbes(tx, state, after);
      await cancelDeadBoots(tx, row, state);
      await tx.update(bisect).set({ posterior: after, untestable: state.untestable }).where(eq(bisect.id, row.id));
      if (step.kind === 'refused') {
        await endBisect(tx, ctx, row, { state: 'done', reason: step.reason, result: { ...step, ...cost(state) } });
        return [];
      }
      if (step.kind === 'done') {
        await endBisect(tx, ctx, row, {
          state: 'done',
          culprit: step.culprit,
          reason: step.reason,
          result: { ...step, ...cost(state) },
        });
        return step.culprit && row.verifyPairId ? [{ step: 'report', id: row.verifyPairId }] : [];
      }
      if (stuck(state, step)) {
        await endBisect(tx, ctx, row, {
          state: 'failed',
          reason: 'the same boots were lost three times to failures of hosts; look at them and start the bisect again',
        });
        return [];
      }
      // A candidate that its verification refuted gives way to another, which gets a pair of its own.
      if (step.kind === 'verify' && (row.verifyPairId === null || row.culpritSha !== step.culprit))
        return verify(tx, ctx, row, state, step, after);
      return probe(tx, row, state, step, after);
    });
  });
}

/** Asks for the boots of a step; a kernel that isn't there yet is built first, and its boots wait for it. */
async function probe(
  tx: Db,
  row: BisectRow,
  state: SearchState,
  step: Wanted,
  before: Record<string, number>,
): Promise<Next[]> {
  const order: KernelRow[] = [];
  const kernels: KernelRow[] = [];
  for (const p of step.probes) kernels.push(await kernelOf(tx, state, p.sha));
  // Interleaved: one of each, then again.
  const rounds = Math.max(...step.probes.map((p) => p.boots));
  for (let r = 0; r < rounds; r++) {
    step.probes.forEach((p, i) => {
      if (r < p.boots) order.push(kernels[i]!);
    });
  }
  const bootIds = await wantBoots(
    tx,
    order.map((k) => k.id),
    { testcaseId: row.testcaseId, bisectId: row.id, priority: 10 },
  );
  let seq = await lastSeq(tx, row.id);
  for (const [i, p] of step.probes.entries()) {
    await tx.insert(bisectProbe).values({
      bisectId: row.id,
      seq: ++seq,
      sha: p.sha,
      kernelId: kernels[i]!.id,
      boots: p.boots,
      bootIds: bootIds.filter((_, at) => order[at]!.id === kernels[i]!.id),
      why: `${step.kind}: ${step.why}`,
      posteriorBefore: before,
    });
    await insertEvent(tx, {
      kind: 'bisect.probe',
      subject: `bisect:${row.id}`,
      data: { sha: p.sha, boots: p.boots, why: step.why },
    });
  }
  await tx
    .update(bisect)
    .set({ state: step.kind === 'verify' ? 'verifying' : 'running' })
    .where(eq(bisect.id, row.id));
  return [...builds(kernels), ...(await readyBoots(tx))];
}

/** Culprit against its first parent, as a pair of its own: judged over all metrics, it is what the report shows. */
async function verify(
  tx: Db,
  ctx: StepContext,
  row: BisectRow,
  state: SearchState,
  step: Verify,
  before: Record<string, number>,
): Promise<Next[]> {
  const parent = step.parents[0];
  if (parent === undefined) return probe(tx, row, state, step, before);
  const parentKernel = await kernelOf(tx, state, parent);
  const culpritKernel = await kernelOf(tx, state, step.culprit);
  const { pair: verifying, made } = await wantPair(tx, {
    treeId: row.treeId,
    branch: state.branch ?? undefined,
    baseKernelId: parentKernel.id,
    headKernelId: culpritKernel.id,
    testcaseId: row.testcaseId,
    bisectId: row.id,
  });
  await tx
    .update(bisect)
    .set({ state: 'verifying', verifyPairId: verifying.id, culpritSha: step.culprit })
    .where(eq(bisect.id, row.id));
  await insertEvent(tx, {
    kind: 'bisect.verify',
    subject: `bisect:${row.id}`,
    data: { culprit: step.culprit, parent, pair: verifying.id },
  });
  // A head that was pushed commit by commit has this pair already, with its boots.
  if (!made)
    return verifying.state === 'judged' || verifying.state === 'failed' ? [{ step: 'bisect', id: row.id }] : [];
  const next = await advancePair(tx, verifying.id);
  await tx.update(boot).set({ priority: 10 }).where(eq(boot.pairId, verifying.id));
  ctx.log.info({ bisect: row.id, culprit: step.culprit, pair: verifying.id }, 'verifying the culprit');
  return [...next, ...(await readyBoots(tx))];
}

/** The commit's kernel, built like the others of this bisect; asked for where it isn't there. */
async function kernelOf(tx: Db, state: SearchState, sha: string): Promise<KernelRow> {
  const known = state.kernels.get(sha);
  if (known) return known;
  const { kind, treeId, kconfig, kconfigHash, cmdline } = state.template;
  return wantKernel(tx, { kind, treeId: treeId!, sha, kconfig, kconfigHash, cmdline, priority: 10 });
}

function builds(kernels: KernelRow[]): Next[] {
  return kernels.filter((k) => k.state === 'wanted').map((k) => ({ step: 'build', id: k.id, attempt: k.attempt }));
}

/** Notes what came of the probes whose boots have ended. */
async function closeProbes(tx: Db, state: SearchState, after: Record<string, number>): Promise<void> {
  for (const p of state.probes.filter((p) => p.state === 'wanted')) {
    const values = bootsOf(state, p).flatMap((b) => state.values.get(b) ?? []);
    await tx
      .update(bisectProbe)
      .set({
        state: values.length === 0 && state.untestable[p.sha] ? 'untestable' : 'done',
        values,
        posteriorAfter: after,
      })
      .where(eq(bisectProbe.id, p.id));
  }
}

/** A probe's boots, with those that repeat one that a host lost. */
function bootsOf(state: SearchState, p: ProbeRow): number[] {
  const found = new Set(p.bootIds);
  for (const b of state.boots) if (b.retryOf !== null && found.has(b.retryOf)) found.add(b.id);
  return [...found];
}

/** Boots that wait for a kernel that will never be. */
async function cancelDeadBoots(tx: Db, row: BisectRow, state: SearchState): Promise<void> {
  const failed = [...state.kernels.values()].filter((k) => k.state === 'failed').map((k) => k.id);
  if (!failed.length) return;
  await tx
    .update(boot)
    .set({ state: 'cancelled' })
    .where(and(eq(boot.bisectId, row.id), eq(boot.state, 'wanted'), inArray(boot.kernelId, failed)));
}

async function endBisect(
  tx: Db,
  ctx: StepContext,
  row: BisectRow,
  end: { state: 'done' | 'failed'; reason: string; culprit?: string | null; result?: object },
): Promise<void> {
  await tx
    .update(bisect)
    .set({
      state: end.state,
      culpritSha: end.culprit ?? null,
      endedAt: ctx.clock.now(),
      ...(end.result && { result: end.result }),
      ...(end.state === 'failed' && {
        failure: { class: 'infra' as const, code: 'KD_BISECT_FAILED', message: end.reason },
      }),
    })
    .where(eq(bisect.id, row.id));
  await insertEvent(tx, {
    kind: 'bisect.ended',
    subject: `bisect:${row.id}`,
    data: { culprit: end.culprit ?? null, reason: end.reason },
  });
  ctx.log.info({ bisect: row.id, culprit: end.culprit ?? null, reason: end.reason }, 'bisect ended');
}

/** What the search cost and covered; part of `result`, and of the mail. */
function cost(state: SearchState) {
  const counted = state.boots.filter((b) => state.values.has(b.id));
  const tested = new Set([...state.values.keys()]);
  return {
    boots: tested.size,
    ownBoots: counted.length,
    kernels: [...state.kernels.values()].filter((k) => k.state === 'built').length,
    commits: state.commits,
    untestable: Object.keys(state.untestable).length,
  };
}

function hasOpenBoots(state: SearchState): boolean {
  const dead = new Set([...state.kernels.values()].filter((k) => k.state === 'failed').map((k) => k.id));
  return state.boots.some((b) => !dead.has(b.kernelId) && !['done', 'failed', 'cancelled'].includes(b.state));
}

/** The last three probes asked for the same commit and none gave a number, nor says that the commit is at fault. */
function stuck(state: SearchState, step: Wanted): boolean {
  const last = state.probes.slice(-3);
  return (
    last.length === 3 &&
    last.every((p: ProbeRow) => p.sha === step.probes[0]?.sha && !bootsOf(state, p).some((b) => state.values.has(b)))
  );
}

async function isOpenPair(db: Db, id: number): Promise<boolean> {
  const [row] = await db.select({ state: pair.state }).from(pair).where(eq(pair.id, id));
  return row !== undefined && !['judged', 'failed', 'cancelled'].includes(row.state);
}

async function lastSeq(tx: Db, bisectId: number): Promise<number> {
  const [row] = await tx
    .select({ seq: sql<number>`coalesce(max(${bisectProbe.seq}), 0)::int` })
    .from(bisectProbe)
    .where(eq(bisectProbe.bisectId, bisectId));
  return row!.seq;
}

/** Probabilities as they are stored and shown. */
function rounded(mass: Map<string, number>): Record<string, number> {
  return Object.fromEntries([...mass].map(([sha, p]) => [sha, Number(p.toPrecision(6))]));
}
