import type { Testcase } from '@kdelta/jobs';
import {
  bisect,
  boot,
  branchHead,
  type Db,
  type Failure,
  findReadyBoots,
  insertEvent,
  interleaved,
  kernel,
  pair,
  testcase,
  wantBoots,
} from '@kdelta/store';
import { and, count, desc, eq, inArray, isNull, or } from 'drizzle-orm';
import type { Next } from './context.ts';

/*
 * The life of a pair:
 *
 *   planned ──both kernels built──► booting ──all boots finished──► judging ──► judged
 *      │  └─one image: judged `same` at once      ▲                    │
 *      │                                          └──── more boots ────┘ (the judge step asks for them)
 *      └─ a kernel doesn't build or boot: failed. When it was the base, the head is planned again with an earlier one.
 *
 * `advancePair` looks at what is there and does what comes next. It is called whenever something has happened to one of
 * the pair's kernels or boots, and may be called at any time.
 */

/** A kernel is said not to boot after this many boots of class `boot` and none that came up. */
const bootTries = 2;

type Pair = typeof pair.$inferSelect;
type Kernel = typeof kernel.$inferSelect;

export async function advancePair(tx: Db, pairId: number): Promise<Next[]> {
  const [row] = await tx.select().from(pair).where(eq(pair.id, pairId)).for('update');
  if (!row || (row.state !== 'planned' && row.state !== 'booting')) return [];
  const kernels = await tx
    .select()
    .from(kernel)
    .where(inArray(kernel.id, [row.baseKernelId, row.headKernelId]));
  const base = kernels.find((k) => k.id === row.baseKernelId) as Kernel;
  const head = kernels.find((k) => k.id === row.headKernelId) as Kernel;

  for (const k of [base, head]) {
    const failure = k.state === 'failed' ? k.failure : await doesNotBoot(tx, rootOf(k), row.testcaseId);
    if (failure) return failPair(tx, row, head, failure, k.id === base.id ? 'base' : 'head');
  }
  if (base.state !== 'built' || head.state !== 'built')
    return [base, head]
      .filter((k) => k.state === 'wanted')
      .map((k) => ({ step: 'build', id: k.id, attempt: k.attempt }));
  if ((base.sameAs ?? base.id) === (head.sameAs ?? head.id)) return judgeSameImage(tx, row);

  const boots = await tx.select().from(boot).where(eq(boot.pairId, pairId));
  if (boots.length === 0) {
    const job = await jobOf(tx, row.testcaseId);
    await wantBoots(tx, interleaved(rootOf(base), rootOf(head), job.boots), { testcaseId: row.testcaseId, pairId });
    await tx.update(pair).set({ state: 'booting' }).where(eq(pair.id, pairId));
    return readyBoots(tx);
  }
  if (boots.some((b) => !isFinished(b.state))) return readyBoots(tx);

  const good = (k: Kernel) => boots.filter((b) => b.kernelId === rootOf(k) && b.state === 'done').length;
  const lastFailure = boots.findLast((b) => b.failure)?.failure;
  // The judge can say something of one boot a side on a deterministic host; of none it can't.
  if ((good(base) === 0 || good(head) === 0) && lastFailure)
    return failPair(tx, row, head, lastFailure, good(base) === 0 && good(head) > 0 ? 'base' : 'head');
  await tx.update(pair).set({ state: 'judging' }).where(eq(pair.id, pairId));
  await insertEvent(tx, { kind: 'pair.judging', subject: `pair:${pairId}` });
  return [{ step: 'judge', id: pairId, attempt: row.attempt }];
}

/** The kernel that is booted for this one: of equal images the first. */
export function rootOf(k: Kernel): number {
  return k.sameAs ?? k.id;
}

/** All pairs that wait for this kernel. */
export async function advancePairsOf(tx: Db, kernelId: number): Promise<Next[]> {
  const rows = await tx
    .select({ id: pair.id })
    .from(pair)
    .where(
      and(
        inArray(pair.state, ['planned', 'booting']),
        or(eq(pair.baseKernelId, kernelId), eq(pair.headKernelId, kernelId)),
      ),
    )
    .orderBy(pair.id);
  const next: Next[] = [];
  for (const { id } of rows) next.push(...(await advancePair(tx, id)));
  return next;
}

/** The boots that hosts could start now, as rows to be queued. */
export async function readyBoots(tx: Db): Promise<Next[]> {
  return (await findReadyBoots(tx)).map(({ id, attempt }) => ({ step: 'boot', id, attempt }));
}

export function isFinished(state: (typeof boot.$inferSelect)['state']): boolean {
  return state === 'done' || state === 'failed' || state === 'cancelled';
}

/** Why this kernel is said not to boot at this testcase, or null. */
export async function doesNotBoot(db: Db, kernelId: number, testcaseId: number): Promise<Failure | null> {
  const boots = await db
    .select({ state: boot.state, failure: boot.failure })
    .from(boot)
    .where(and(eq(boot.kernelId, kernelId), eq(boot.testcaseId, testcaseId)))
    .orderBy(desc(boot.id));
  if (boots.some((b) => b.state === 'done' || b.failure?.class === 'test')) return null;
  const failures = boots.filter((b) => b.failure?.class === 'boot');
  return failures.length >= bootTries ? (failures[0]?.failure ?? null) : null;
}

export async function jobOf(db: Db, testcaseId: number): Promise<Testcase> {
  const [row] = await db.select({ job: testcase.job }).from(testcase).where(eq(testcase.id, testcaseId));
  return row?.job as Testcase;
}

/** Equal loadable sections: nothing to measure. */
async function judgeSameImage(tx: Db, row: Pair): Promise<Next[]> {
  const line = 'no change: same kernel image';
  await tx
    .update(pair)
    .set({ state: 'judged', verdict: 'same', line, judgedAt: new Date() })
    .where(eq(pair.id, row.id));
  await insertEvent(tx, { kind: 'pair.judged', subject: `pair:${row.id}`, data: { verdict: 'same', line } });
  return bisectsVerifying(tx, row.id);
}

async function failPair(tx: Db, row: Pair, head: Kernel, failure: Failure, whose: 'base' | 'head'): Promise<Next[]> {
  const line = `${whose} ${failure.class === 'build' ? "doesn't build" : failure.class === 'boot' ? "doesn't boot" : 'failed'}: ${failure.message}`;
  await tx.update(pair).set({ state: 'failed', failure, line, judgedAt: new Date() }).where(eq(pair.id, row.id));
  await tx
    .update(boot)
    .set({ state: 'cancelled', finishedAt: new Date() })
    .where(and(eq(boot.pairId, row.id), eq(boot.state, 'wanted'), isNull(boot.claim)));
  await insertEvent(tx, { kind: 'pair.failed', subject: `pair:${row.id}`, data: { class: failure.class, line } });
  const next = await bisectsVerifying(tx, row.id);
  if (whose === 'base' && row.treeId && row.branch && head.sha && head.state !== 'failed') {
    const [seen] = await tx
      .select({ id: branchHead.id })
      .from(branchHead)
      .where(and(eq(branchHead.treeId, row.treeId), eq(branchHead.branch, row.branch), eq(branchHead.sha, head.sha)))
      .orderBy(desc(branchHead.id))
      .limit(1);
    if (seen) {
      await tx.update(branchHead).set({ state: 'seen' }).where(eq(branchHead.id, seen.id));
      next.push({ step: 'plan', id: seen.id });
    }
  }
  return next;
}

/** The bisect whose culprit this pair verifies. */
async function bisectsVerifying(tx: Db, pairId: number): Promise<Next[]> {
  const rows = await tx
    .select({ id: bisect.id, attempt: bisect.attempt })
    .from(bisect)
    .where(eq(bisect.verifyPairId, pairId));
  return rows.map((row) => ({ step: 'bisect', ...row }));
}

/** Boots of a bisect that are still to come. */
export async function openBoots(db: Db, bisectId: number): Promise<number> {
  const [row] = await db
    .select({ n: count() })
    .from(boot)
    .where(
      and(eq(boot.bisectId, bisectId), inArray(boot.state, ['wanted', 'claimed', 'booting', 'running', 'collecting'])),
    );
  return row?.n ?? 0;
}
