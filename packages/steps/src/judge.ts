import type { HostFile, Testcase, TreeConfig } from '@kdelta/jobs';
import type { Registry } from '@kdelta/matrix';
import { type Delta, type Judgement, judge } from '@kdelta/stats';
import {
  type Asked,
  bisect,
  boot,
  type Db,
  delta,
  host,
  insertEvent,
  interleaved,
  judgement,
  kernel,
  listHistoryBoots,
  loadMatrixOfEach,
  metricIds,
  packJudgement,
  pair,
  takeBackClaims,
  testcase,
  tree,
  wantBoots,
} from '@kdelta/store';
import { and, eq, inArray, sql } from 'drizzle-orm';
import type { Next, StepContext, StepDef } from './context.ts';
import { refreshNoise } from './noise.ts';
import { readyBoots, rootOf } from './pairLife.ts';
import { only, unclaimed, withClaim } from './withClaim.ts';

/**
 * Judges a pair whose boots have ended (pairLife.ts tells how it got here): fresh, interleaved boots of base and head
 * against each other, earlier boots of other kernels as the noise's history. What follows from the verdict:
 *
 *     a KPI inconclusive, none regressed, boots left by the job's limit ──► booting (one more block), judged again with a further look
 *     everything else ──► judged: judgement and deltas are written once and never changed
 *       a KPI regressed, over one commit   ──► report
 *       a KPI regressed, over several      ──► bisect (unless there is one for this range, metric and testcase)
 *       the pair verifies a bisect's culprit ──► that bisect goes on
 */
export const judgeStep: StepDef = {
  name: 'judge',
  run: judgePair,
  due: (db, id) =>
    db
      .select({ id: pair.id, attempt: pair.attempt })
      .from(pair)
      .where(and(only(pair, id), unclaimed(pair), eq(pair.state, 'judging'))),
  takeBack: async (db) => (await takeBackClaims(db, pair, ['judging'])).length,
};

type PairRow = typeof pair.$inferSelect;
type KernelRow = typeof kernel.$inferSelect;
type BootRow = typeof boot.$inferSelect;

/** All that a judgement rests on: what it names, and what that stands for. */
interface Evidence {
  pair: PairRow;
  base: KernelRow;
  head: KernelRow;
  testcase: typeof testcase.$inferSelect;
  boots: { base: BootRow[]; head: BootRow[] };
  /** Boots of other kernels, one list per kernel. */
  history: number[][];
  cutoff: number;
  asked: Asked;
}

async function judgePair(ctx: StepContext, id: number): Promise<void> {
  await withClaim(ctx, pair, id, { from: ['judging'], onBug: failAsBug }, async ({ row, finish }) => {
    const evidence = await gather(ctx.db, row);
    const job = evidence.testcase.job as Testcase;
    const each = Math.min(evidence.boots.base.length, evidence.boots.head.length);
    const { looksMax } = evidence.asked;
    const result = await judgeEvidence(ctx.db, evidence, ctx.metrics);

    const more = Math.min(job.boots, job.maxBoots - each);
    // A regression that is clear already isn't kept waiting for another KPI's: what follows boots both kernels again.
    const clear = result.deltas.some((d) => d.kpi && d.verdict === 'regression');
    if (result.wantMore && !clear && more > 0 && row.looks + 1 < looksMax) {
      await finish((tx) => bootMore(tx, evidence, more, result));
      return;
    }
    await finish((tx) => keep(tx, ctx, evidence, result));
  });
}

async function gather(db: Db, row: PairRow): Promise<Evidence> {
  const boots = await db.select().from(boot).where(eq(boot.pairId, row.id)).orderBy(boot.id);
  const kernels = await db
    .select()
    .from(kernel)
    .where(inArray(kernel.id, [row.baseKernelId, row.headKernelId]));
  const base = kernels.find((k) => k.id === row.baseKernelId)!;
  const head = kernels.find((k) => k.id === row.headKernelId)!;
  const [tc] = await db.select().from(testcase).where(eq(testcase.id, row.testcaseId));
  const done = (k: KernelRow) =>
    boots
      .filter((b) => b.state === 'done' && (b.kernelId === k.id || b.kernelId === k.sameAs))
      .sort((a, b) => ranAt(a) - ranAt(b) || a.id - b.id);
  const sides = { base: done(base), head: done(head) };
  const own = [base.id, head.id, base.sameAs, head.sameAs].filter((k) => k !== null);
  const cutoff = Math.min(...ids(sides.base), ...ids(sides.head));
  const history = await listHistoryBoots(db, row.testcaseId, own, cutoff);
  const job = tc!.job as Testcase;
  const looksMax = 1 + Math.max(0, Math.ceil((job.maxBoots - job.boots) / job.boots));
  const asked: Asked = {
    look: Math.min(row.looks + 1, looksMax),
    looksMax,
    wantPct: job.wantPct,
    rebuildSpreadPct: await rebuildSpread(db, [...sides.base, ...sides.head], tc!.program),
  };
  return { pair: row, base, head, testcase: tc!, boots: sides, history, cutoff, asked };
}

/** What the files of the hosts that the boots ran on say of rebuilds of equal source; the largest of several hosts. */
async function rebuildSpread(db: Db, boots: BootRow[], program: string): Promise<number | undefined> {
  const hosts = [...new Set(boots.map((b) => b.hostId))].filter((id) => id !== null);
  if (hosts.length === 0) return undefined;
  const rows = await db.select({ config: host.config }).from(host).where(inArray(host.id, hosts));
  const known = rows
    .map((row) => (row.config as HostFile).rebuildSpreadPct?.[program])
    .filter((pct) => pct !== undefined);
  return known.length > 0 ? Math.max(...known) : undefined;
}

/** The judgement of what `evidence` names: from the same boots and the same version the same bytes, whenever it is asked for. */
export async function judgeEvidence(
  db: Db,
  { boots, history, asked, testcase: tc }: Pick<Evidence, 'boots' | 'history' | 'asked' | 'testcase'>,
  registry: Registry,
): Promise<Judgement> {
  const [base, head, ...past] = await loadMatrixOfEach(db, [ids(boots.base), ids(boots.head), ...history]);
  return judge({
    base: base!,
    head: head!,
    history: past,
    registry,
    deterministic: tc.deterministic,
    ...asked,
    order: { base: boots.base.map(ranAt), head: boots.head.map(ranAt) },
  });
}

async function bootMore(tx: Db, { pair: row, base, head }: Evidence, each: number, result: Judgement): Promise<Next[]> {
  await wantBoots(tx, interleaved(rootOf(base), rootOf(head), each), { testcaseId: row.testcaseId, pairId: row.id });
  await tx
    .update(pair)
    .set({ state: 'booting', looks: row.looks + 1, line: result.line })
    .where(eq(pair.id, row.id));
  await insertEvent(tx, { kind: 'pair.more-boots', subject: `pair:${row.id}`, data: { each, line: result.line } });
  return readyBoots(tx);
}

/** Writes judgement, deltas and what follows from them. */
async function keep(tx: Db, ctx: StepContext, evidence: Evidence, result: Judgement): Promise<Next[]> {
  const row = evidence.pair;
  const [made] = await tx
    .insert(judgement)
    .values({
      pairId: row.id,
      baseKernelId: row.baseKernelId,
      headKernelId: row.headKernelId,
      testcaseId: row.testcaseId,
      baseBoots: ids(evidence.boots.base),
      headBoots: ids(evidence.boots.head),
      historyCutoff: evidence.cutoff,
      historyBoots: evidence.history.flat(),
      asked: evidence.asked,
      judgeVersion: result.judgeVersion,
      verdict: result.verdict,
      line: result.line,
      packed: packJudgement(result),
    })
    .returning({ id: judgement.id });
  await insertDeltas(tx, made!.id, result.deltas);
  await refreshNoise(tx, ctx.metrics, row.testcaseId);
  const next = await follow(tx, ctx, evidence, result);
  await tx
    .update(pair)
    .set({
      state: 'judged',
      looks: row.looks + 1,
      verdict: result.verdict,
      line: result.line,
      judgementId: made!.id,
      judgedAt: ctx.clock.now(),
      ...(next.bisectId !== null && { bisectId: next.bisectId }),
    })
    .where(eq(pair.id, row.id));
  await insertEvent(tx, {
    kind: 'pair.judged',
    subject: `pair:${row.id}`,
    data: { verdict: result.verdict, line: result.line, bisect: next.bisectId },
  });
  return next.rows;
}

async function insertDeltas(tx: Db, judgementId: number, deltas: Delta[]): Promise<void> {
  const kept = deltas.filter((d) => d.kpi || (d.verdict !== 'same' && d.verdict !== 'inconclusive'));
  if (!kept.length) return;
  const metrics = await metricIds(
    tx,
    kept.map((d) => d.metric),
  );
  await tx.insert(delta).values(
    kept.map((d) => ({
      judgementId,
      metricId: metrics.get(d.metric)!,
      kpi: d.kpi,
      verdict: d.verdict,
      changePct: d.changePct,
      ciLo: d.ci95Pct?.[0] ?? null,
      ciHi: d.ci95Pct?.[1] ?? null,
      p: d.p,
      q: d.q,
      detectablePct: d.detectablePct,
      baseMean: d.base.mean,
      headMean: d.head.mean,
      flags: d.flags,
    })),
  );
}

/** What a judged pair asks for next. */
async function follow(
  tx: Db,
  ctx: StepContext,
  { pair: row, base, head }: Evidence,
  result: Judgement,
): Promise<{ bisectId: number | null; rows: Next[] }> {
  // Also a pair that a bisect found ready-made must wake it.
  const waiting = await tx
    .select({ id: bisect.id })
    .from(bisect)
    .where(and(eq(bisect.verifyPairId, row.id), inArray(bisect.state, ['running', 'verifying'])));
  if (waiting.length) return { bisectId: null, rows: waiting.map((b) => ({ step: 'bisect', id: b.id })) };

  const lead = result.deltas.find((d) => d.kpi && d.verdict === 'regression');
  if (!lead || row.treeId === null || row.bisectId !== null || !base.sha || !head.sha)
    return { bisectId: null, rows: [] };
  if (await isParentOf(tx, base.sha, head.sha)) return { bisectId: null, rows: [{ step: 'report', id: row.id }] };

  const [treeRow] = await tx.select().from(tree).where(eq(tree.id, row.treeId));
  const rules = (treeRow!.config as TreeConfig).bisect;
  if (!rules.enabled) return { bisectId: null, rows: [] };
  const metricId = (await metricIds(tx, [lead.metric])).get(lead.metric)!;
  const range = and(
    eq(bisect.treeId, row.treeId),
    eq(bisect.goodSha, base.sha),
    eq(bisect.badSha, head.sha),
    eq(bisect.testcaseId, row.testcaseId),
    eq(bisect.metricId, metricId),
  );
  const [known] = await tx.select({ id: bisect.id }).from(bisect).where(range);
  if (known) return { bisectId: known.id, rows: [] };
  const [made] = await tx
    .insert(bisect)
    .values({
      treeId: row.treeId,
      goodSha: base.sha,
      badSha: head.sha,
      testcaseId: row.testcaseId,
      metricId,
      pairId: row.id,
      budget: rules.budget,
      certainty: rules.certainty,
    })
    .returning({ id: bisect.id });
  await insertEvent(tx, {
    kind: 'bisect.started',
    subject: `bisect:${made!.id}`,
    data: { pair: row.id, metric: lead.metric, good: base.sha, bad: head.sha },
  });
  ctx.log.info({ bisect: made!.id, pair: row.id, metric: lead.metric }, 'a regression: bisecting');
  return { bisectId: made!.id, rows: [{ step: 'bisect', id: made!.id }] };
}

/** `child` has one parent, and it is `parent`: nothing lies between them. */
async function isParentOf(tx: Db, parent: string, child: string): Promise<boolean> {
  const { rows } = await tx.execute<{ one: boolean }>(
    sql`select parents = array[${parent}]::text[] one from commit where sha = ${child}`,
  );
  return rows[0]?.one === true;
}

async function failAsBug(tx: Db, row: PairRow, error: Error): Promise<Next[]> {
  const failure = { class: 'bug' as const, code: 'KD_JUDGE_BUG', message: `judging failed: ${error.message}` };
  await tx.update(pair).set({ state: 'failed', failure, line: failure.message }).where(eq(pair.id, row.id));
  await insertEvent(tx, { kind: 'pair.failed', subject: `pair:${row.id}`, data: { ...failure } });
  return [];
}

function ids(boots: BootRow[]): number[] {
  return boots.map((b) => b.id);
}

function ranAt(b: BootRow): number {
  return (b.startedAt ?? b.wantedAt).getTime();
}
