import { type Next as BisectNext, next, posterior } from '@kdelta/bisect';
import {
  bisect,
  bisectProbe,
  boot,
  type Db,
  insertEvent,
  kernel,
  pair,
  takeBackClaims,
  wantBoots,
  wantKernel,
  wantPair,
} from '@kdelta/store';
import { and, eq, inArray, sql } from 'drizzle-orm';
import { buildAhead, forget, needNow } from './bisectAhead.ts';
import { revertBoots, revertLine, revertOnBad, revertResult, wantsRevert } from './bisectRevert.ts';
import {
  type BisectRow,
  isCommitsFault,
  isRevert,
  type KernelRow,
  loadSearch,
  type ProbeRow,
  type SearchState,
} from './bisectSearch.ts';
import type { Next, StepContext, StepDef } from './context.ts';
import { advancePair, readyBoots, rootOf } from './pairLife.ts';
import { only, unclaimed, withClaim } from './withClaim.ts';

type Wanted = Extract<BisectNext, { kind: 'confirm-ends' | 'probe' | 'verify' }>;
/** Boots that the search asks for, or that its culprit's revert needs. */
type Asked = Pick<Wanted, 'probes' | 'why'> & { kind: Wanted['kind'] | 'revert' };
type Verify = Extract<BisectNext, { kind: 'verify' }>;

/**
 * One turn of a bisect. The search (packages/bisect) is rebuilt from the stored boots each time, so a restart, a boot
 * counted by another bisect or a second worker changes nothing: the same boots give the same next step.
 *
 *     wanted ──► running ──(probe: kernel and boots wanted; their end wakes the bisect again)──► running …
 *                   │ certain enough
 *                   ▼
 *               verifying: culprit against its parent, a pair of its own, interleaved ──► judged
 *                   │ where the culprit reverts cleanly: the revert on top of bad, booted
 *                   ▼
 *               done ──► report
 *
 * A probe's kernel is built before a boot is asked for: when it turns out to be the image of one that was booted already,
 * those boots are the answer. While hosts are busy, the kernels that are likely to be next are built. A commit that doesn't build or boot is stepped around: it stays a candidate and isn't probed.
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
          sql`not exists (select 1 from bisect_probe p join kernel k on k.id = p.kernel_id
                where p.bisect_id = ${bisect.id} and p.state = 'wanted' and k.state in ('wanted', 'building'))`,
          sql`not exists (select 1 from pair p
                where p.id = ${bisect.verifyPairId} and p.state not in ('judged', 'failed', 'cancelled'))`,
        ),
      ),
  takeBack: async (db) => (await takeBackClaims(db, bisect, ['wanted', 'running', 'verifying'])).length,
};

async function bisectTurn(ctx: StepContext, id: number): Promise<void> {
  const onBug = async (tx: Db, row: BisectRow, error: Error) => {
    await endBisect(tx, ctx, row, { state: 'failed', reason: error.message, failureClass: 'bug' });
    return [];
  };
  await withClaim(ctx, bisect, id, { from: ['wanted', 'running', 'verifying'], onBug }, async ({ row, finish }) => {
    if (row.verifyPairId !== null && (await isOpenPair(ctx.db, row.verifyPairId))) return;
    const state = await loadSearch(ctx, row);
    if (hasOpenBoots(state)) return;
    const waiting = state.probes.filter((p) => p.state === 'wanted' && p.bootIds.length === 0);
    if (waiting.some((p) => isBuilding(state, p))) return;
    const unbooted = waiting.filter(
      (p) => state.kernels.get(p.sha)?.state === 'built' && !sharedBoots(state, p).length,
    );
    if (unbooted.length) {
      await finish((tx) => bootProbes(tx, row, state, unbooted));
      return;
    }
    const built = new Set([...state.kernels].filter(([, k]) => k.state === 'built').map(([sha]) => sha));
    const step = next(state.search, { built, hosts: 1 });
    const after = rounded(posterior(state.search));
    const found = step.kind === 'verify' || (step.kind === 'done' && wantsRevert(state, step)) ? step.culprit : null;
    const reverted = found === null ? null : await revertOnBad(ctx, row, state.tree.config.name, found);

    await finish(async (tx) => {
      await closeProbes(tx, state, after);
      await cancelDeadBoots(tx, row, state);
      await tx.update(bisect).set({ posterior: after, untestable: state.untestable }).where(eq(bisect.id, row.id));
      if (step.kind === 'refused') {
        await endBisect(tx, ctx, row, { state: 'done', reason: step.reason, result: { ...step, ...cost(state) } });
        return [];
      }
      if (step.kind === 'done' && reverted !== null) {
        const probes = [{ sha: reverted, boots: revertBoots(state, step) }];
        const why = `${step.culprit!.slice(0, 12)} reverted on top of bad`;
        return probe(tx, row, state, { kind: 'revert', probes, why }, after);
      }
      if (step.kind === 'done') {
        const revert = revertResult(state, (p) => bootsOf(state, p));
        await endBisect(tx, ctx, row, {
          state: 'done',
          culprit: step.culprit,
          reason: step.reason + revertLine(revert),
          result: { ...step, ...cost(state), reason: step.reason + revertLine(revert), revert },
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
        return verify(tx, ctx, row, state, step, reverted, after);
      return probe(tx, row, state, step, after);
    });
  });
}

/** Notes the probes of a step, and asks for their kernels, or for their boots where the kernels are there. */
async function probe(
  tx: Db,
  row: BisectRow,
  state: SearchState,
  step: Asked,
  before: Record<string, number>,
): Promise<Next[]> {
  const kernels: KernelRow[] = [];
  const probes: ProbeRow[] = [];
  let seq = Math.max(0, ...state.probes.map((p) => p.seq));
  for (const p of step.probes) {
    const k = await kernelOf(tx, state, p.sha);
    state.kernels.set(p.sha, k);
    kernels.push(k);
    const [made] = await tx
      .insert(bisectProbe)
      .values({
        bisectId: row.id,
        seq: ++seq,
        sha: p.sha,
        kernelId: k.id,
        boots: p.boots,
        bootIds: [],
        why: `${step.kind}: ${step.why}`,
        posteriorBefore: before,
      })
      .returning();
    probes.push(made!);
    await insertEvent(tx, {
      kind: 'bisect.probe',
      subject: `bisect:${row.id}`,
      data: { sha: p.sha, boots: p.boots, why: step.why },
    });
  }
  await tx
    .update(bisect)
    .set({ state: step.kind === 'verify' || step.kind === 'revert' ? 'verifying' : 'running' })
    .where(eq(bisect.id, row.id));
  if (kernels.every((k) => k.state === 'built')) return bootProbes(tx, row, state, probes);
  // The builder is needed now: for nothing that the search has turned away from.
  const wanted = new Set(kernels.map((k) => k.id));
  await forget(
    tx,
    [...state.kernels.values()].map((k) => k.id).filter((id) => !wanted.has(id)),
  );
  return builds(kernels);
}

/** The boots of these probes: one of each, then again, so that a drift of the host hits all alike. */
async function bootProbes(tx: Db, row: BisectRow, state: SearchState, probes: ProbeRow[]): Promise<Next[]> {
  const order: ProbeRow[] = [];
  for (let r = 0; r < Math.max(...probes.map((p) => p.boots)); r++) order.push(...probes.filter((p) => r < p.boots));
  const bootIds = await wantBoots(
    tx,
    order.map((p) => rootOf(state.kernels.get(p.sha)!)),
    { testcaseId: row.testcaseId, bisectId: row.id, priority: 10 },
  );
  for (const p of probes) {
    await tx
      .update(bisectProbe)
      .set({ bootIds: bootIds.filter((_, at) => order[at] === p) })
      .where(eq(bisectProbe.id, p.id));
  }
  const ahead = probes.some(isRevert) ? [] : await buildAhead(tx, state, probes);
  return [...(await readyBoots(tx)), ...ahead];
}

function isBuilding(state: SearchState, p: ProbeRow): boolean {
  const k = state.kernels.get(p.sha);
  return k !== undefined && k.state !== 'built' && k.state !== 'failed';
}

/** Boots of another kernel with the same image that a probe can do with; not for probes of kernels that want fresh ones. */
function sharedBoots(state: SearchState, p: ProbeRow): number[] {
  const k = state.kernels.get(p.sha);
  if (!k || k.sameAs === null || !p.why.startsWith('probe')) return [];
  return state.booted.filter((b) => b.root === k.sameAs && state.values.has(b.id)).map((b) => b.id);
}

/** Culprit against its first parent, as a pair of its own: judged over all metrics, it is what the report shows. */
async function verify(
  tx: Db,
  ctx: StepContext,
  row: BisectRow,
  state: SearchState,
  step: Verify,
  reverted: string | null,
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
  const ahead = await buildAhead(tx, state, step.probes, reverted === null ? [] : [reverted]);
  return [...next, ...(await readyBoots(tx)), ...ahead];
}

/** The commit's kernel, built like the others of this bisect; asked for where it isn't there. */
async function kernelOf(tx: Db, state: SearchState, sha: string): Promise<KernelRow> {
  const known = state.kernels.get(sha);
  if (known?.state === 'failed' && !isCommitsFault(known.failure)) {
    // `stuck` ends it when that lasts.
    const again = { state: 'wanted' as const, failure: null, attempt: 0, priority: 10 };
    const [row] = await tx.update(kernel).set(again).where(eq(kernel.id, known.id)).returning();
    return row!;
  }
  const needed = known && (await needNow(tx, known, 10));
  if (needed) return needed;
  const { kind, treeId, kconfig, kconfigHash, cmdline } = state.template;
  return wantKernel(tx, { kind, treeId: treeId!, sha, kconfig, kconfigHash, cmdline, priority: 10 });
}

function builds(kernels: KernelRow[]): Next[] {
  return kernels.filter((k) => k.state === 'wanted').map((k) => ({ step: 'build', id: k.id, attempt: k.attempt }));
}

/** Notes what came of the probes whose boots have ended. */
async function closeProbes(tx: Db, state: SearchState, after: Record<string, number>): Promise<void> {
  for (const p of state.probes.filter((p) => p.state === 'wanted')) {
    const bootIds = p.bootIds.length ? p.bootIds : sharedBoots(state, p);
    const values = bootsOf(state, { ...p, bootIds }).flatMap((b) => state.values.get(b) ?? []);
    await tx
      .update(bisectProbe)
      .set({
        state: values.length === 0 && state.untestable[p.sha] ? 'untestable' : 'done',
        bootIds,
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
  end: {
    state: 'done' | 'failed';
    reason: string;
    culprit?: string | null;
    result?: object;
    failureClass?: 'infra' | 'bug';
  },
): Promise<void> {
  await tx
    .update(bisect)
    .set({
      state: end.state,
      culpritSha: end.culprit ?? null,
      endedAt: ctx.clock.now(),
      ...(end.result && { result: end.result }),
      ...(end.state === 'failed' && {
        failure: { class: end.failureClass ?? ('infra' as const), code: 'KD_BISECT_FAILED', message: end.reason },
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

/** Probabilities as they are stored and shown. */
function rounded(mass: Map<string, number>): Record<string, number> {
  return Object.fromEntries([...mass].map(([sha, p]) => [sha, Number(p.toPrecision(6))]));
}
