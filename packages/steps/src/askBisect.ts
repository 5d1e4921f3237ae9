import { bisect, boot, insertEvent, listRange, type Store, testcase, tree, wantBisect } from '@kdelta/store';
import { and, eq, or, sql } from 'drizzle-orm';
import type { Next } from './context.ts';

export type AskErrorCode =
  | 'KD_BISECT_UNKNOWN'
  | 'KD_BISECT_STATE'
  | 'KD_TREE_UNKNOWN'
  | 'KD_COMMIT_UNKNOWN'
  | 'KD_TESTCASE_UNKNOWN'
  | 'KD_METRIC_UNKNOWN'
  | 'KD_BISECT_GOOD_IS_BAD'
  | 'KD_BISECT_NOT_ANCESTOR';

export class AskError extends Error {
  /** The command's exit status: the request was wrong. */
  readonly exitStatus = 2;
  constructor(
    readonly code: AskErrorCode,
    message: string,
  ) {
    super(`${code}: ${message}`);
    this.name = 'AskError';
  }
}

export interface BisectRequest {
  tree: string;
  /** Full or unambiguous commit ids that kdelta has recorded. */
  good: string;
  bad: string;
  /** Id, key or name. */
  testcase: string;
  metric: string;
  tboxGroup?: string;
  budget?: number;
  certainty?: number;
}

export interface AskContext {
  store: Store;
  enqueue(next: Next[]): Promise<void>;
}

/**
 * Starts the bisect that a person asks for; returns its id. Throws AskError: KD_TREE_UNKNOWN, KD_COMMIT_UNKNOWN,
 * KD_TESTCASE_UNKNOWN, KD_METRIC_UNKNOWN, KD_BISECT_GOOD_IS_BAD, KD_BISECT_NOT_ANCESTOR.
 */
export async function startBisect(ctx: AskContext, request: BisectRequest, by: string): Promise<number> {
  const { db, pool } = ctx.store;
  const [treeRow] = await db.select({ id: tree.id }).from(tree).where(eq(tree.name, request.tree));
  if (!treeRow) throw new AskError('KD_TREE_UNKNOWN', await near(ctx.store, 'tree', request.tree));
  const good = await resolve(ctx.store, request.good);
  const bad = await resolve(ctx.store, request.bad);
  if (good === bad) throw new AskError('KD_BISECT_GOOD_IS_BAD', `good and bad are the same commit ${good}: name two`);
  const range = await listRange(pool, good, bad, 20_000);
  if (!range.some((c) => c.parents.includes(good))) {
    const back = await listRange(pool, bad, good, 20_000);
    const hint = back.some((c) => c.parents.includes(bad)) ? '; it is the other way round: exchange them' : '';
    throw new AskError('KD_BISECT_NOT_ANCESTOR', `good ${good} is not an ancestor of bad ${bad}${hint}`);
  }
  const wanted = request.testcase;
  const numeric = /^\d{1,9}$/.test(wanted) ? eq(testcase.id, Number(wanted)) : undefined;
  const [tc] = await db
    .select({ id: testcase.id })
    .from(testcase)
    .where(
      and(
        or(eq(testcase.key, wanted), eq(testcase.name, wanted), numeric),
        request.tboxGroup ? eq(testcase.tboxGroup, request.tboxGroup) : undefined,
      ),
    )
    .orderBy(sql`${testcase.id} desc`)
    .limit(1);
  if (!tc) throw new AskError('KD_TESTCASE_UNKNOWN', await near(ctx.store, 'testcase', wanted));
  const id = await wantBisect(pool, {
    tree: request.tree,
    good,
    bad,
    testcaseId: tc.id,
    metric: request.metric,
    pairId: null,
    budget: request.budget ?? 60,
    certainty: request.certainty ?? 0.95,
    askedBy: by,
  });
  if (id === null) throw new AskError('KD_METRIC_UNKNOWN', await near(ctx.store, 'metric', request.metric));
  await insertEvent(db, {
    kind: 'bisect.started',
    subject: `bisect:${id}`,
    actor: by,
    data: { good, bad, metric: request.metric },
  });
  await ctx.enqueue([{ step: 'bisect', id }]);
  return id;
}

/** Ends a bisect that runs; what it has measured stays. Throws KD_BISECT_UNKNOWN, KD_BISECT_STATE. */
export async function cancelBisect(ctx: Pick<AskContext, 'store'>, id: number, by: string): Promise<void> {
  await ctx.store.transact(async (tx) => {
    const [row] = await tx.select().from(bisect).where(eq(bisect.id, id)).for('update');
    if (!row) throw new AskError('KD_BISECT_UNKNOWN', `there is no bisect ${id}`);
    if (!['wanted', 'running', 'paused', 'verifying'].includes(row.state)) {
      throw new AskError('KD_BISECT_STATE', `bisect ${id} is ${row.state} and can't be cancelled`);
    }
    await tx
      .update(bisect)
      .set({ state: 'cancelled', endedAt: sql`now()`, claim: null, claimUntil: null })
      .where(eq(bisect.id, id));
    await tx
      .update(boot)
      .set({ state: 'cancelled', finishedAt: sql`now()` })
      .where(and(eq(boot.bisectId, id), eq(boot.state, 'wanted')));
    await insertEvent(tx, { kind: 'bisect.cancelled', subject: `bisect:${id}`, actor: by });
  });
}

/** Stops asking for boots (what runs ends), or goes on. Throws KD_BISECT_UNKNOWN, KD_BISECT_STATE. */
export async function pauseBisect(ctx: AskContext, id: number, by: string, pause: boolean): Promise<void> {
  await ctx.store.transact(async (tx) => {
    const [row] = await tx.select().from(bisect).where(eq(bisect.id, id)).for('update');
    if (!row) throw new AskError('KD_BISECT_UNKNOWN', `there is no bisect ${id}`);
    const from = pause ? ['wanted', 'running', 'verifying'] : ['paused'];
    if (!from.includes(row.state)) throw new AskError('KD_BISECT_STATE', `bisect ${id} is ${row.state}`);
    await tx
      .update(bisect)
      .set({ state: pause ? 'paused' : 'running', claim: null, claimUntil: null })
      .where(eq(bisect.id, id));
    await insertEvent(tx, { kind: pause ? 'bisect.paused' : 'bisect.resumed', subject: `bisect:${id}`, actor: by });
  });
  if (!pause) await ctx.enqueue([{ step: 'bisect', id }]);
}

async function resolve(store: Store, rev: string): Promise<string> {
  if (/^[0-9a-f]{7,40}$/.test(rev)) {
    const { rows } = await store.db.execute<{ sha: string }>(
      sql`select sha from commit where sha like ${`${rev}%`} limit 2`,
    );
    if (rows.length === 1) return rows[0]!.sha;
    if (rows.length === 2)
      throw new AskError('KD_COMMIT_UNKNOWN', `${rev} is the start of several commits: give more digits`);
  }
  const { rows } = await store.db.execute<{ sha: string }>(
    sql`select sha from branch_head where branch = ${rev} order by id desc limit 1`,
  );
  if (rows[0]) return rows[0].sha;
  throw new AskError('KD_COMMIT_UNKNOWN', `kdelta has recorded no commit or branch ${rev} (commits: 7 digits or more)`);
}

/** `no tree lnux; there are linux, next`. */
async function near(store: Store, what: 'tree' | 'testcase' | 'metric', name: string): Promise<string> {
  const { rows } = await store.db.execute<{ name: string }>(
    sql`select name from ${sql.raw(what)} order by position(lower(${name.slice(0, 4)}) in lower(name)) desc, name limit 5`,
  );
  return `no ${what} ${name}; there ${rows.length === 1 ? 'is' : 'are'} ${rows.map((r) => r.name).join(', ') || 'none'}`;
}
