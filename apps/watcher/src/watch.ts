import { fetchMirror, isAncestorOf, listHeads, mergeBase, resolveCommit } from '@kdelta/git';
import type { TreeConfig } from '@kdelta/jobs';
import { mirrorDir, type Next, recordRange, type StepContext } from '@kdelta/steps';
import { branchHead, insertEvent, recordHead, tree } from '@kdelta/store';
import { and, asc, desc, eq, lte, notInArray, sql } from 'drizzle-orm';

type TreeRow = typeof tree.$inferSelect;

/** A tree that can't be fetched is tried again after its poll interval, then twice as long, and so on up to this. */
const longestBackoffSeconds = 3600;
const fetchesAtOnce = 4;

/**
 * Fetches the trees of kdelta.yaml, each every `poll` seconds or as soon as it is poked, and records new heads, until the
 * context's signal fires. A tree that can't be fetched is reported and tried again later; the others go on.
 */
export async function watchTrees(ctx: StepContext): Promise<void> {
  await syncTrees(ctx);
  const busy = new Map<number, Promise<void>>();
  while (!ctx.signal.aborted) {
    const due = await takeDueTrees(ctx, fetchesAtOnce - busy.size, [...busy.keys()]).catch(() => []);
    for (const row of due) {
      const work = fetchTree(ctx, row)
        .catch((error: unknown) => {
          if (!ctx.signal.aborted) ctx.log.error({ err: error, tree: row.name }, 'watching a tree failed');
        })
        .finally(() => busy.delete(row.id));
      busy.set(row.id, work);
    }
    // A poke makes the tree due: looking once a second costs nothing, and needs no message that could be lost.
    await ctx.clock.sleep(1_000, ctx.signal);
  }
  await Promise.all(busy.values());
}

/** Brings the tree table in line with kdelta.yaml; trees that are no longer in it are kept, but not watched. */
export async function syncTrees(ctx: StepContext): Promise<void> {
  const { trees } = ctx.config;
  for (const config of trees) {
    const values = { name: config.name, url: config.url, config, active: true };
    await ctx.db
      .insert(tree)
      .values(values)
      .onConflictDoUpdate({ target: tree.name, set: { ...values, nextFetchAt: sql`now()` } });
  }
  const names = trees.map((config) => config.name);
  await ctx.db
    .update(tree)
    .set({ active: false })
    .where(names.length > 0 ? notInArray(tree.name, names) : undefined);
}

/** Trees whose time has come; their next time is set at once, so that a second watcher leaves them alone. */
async function takeDueTrees(ctx: StepContext, atMost: number, busy: number[]): Promise<TreeRow[]> {
  if (atMost <= 0) return [];
  const rows = await ctx.db
    .select()
    .from(tree)
    .where(
      and(
        eq(tree.active, true),
        lte(tree.nextFetchAt, sql`now()`),
        // Poked while it is being fetched: again afterwards, not twice at once.
        busy.length > 0 ? notInArray(tree.id, busy) : undefined,
      ),
    )
    .orderBy(asc(tree.nextFetchAt))
    .limit(atMost);
  const taken: TreeRow[] = [];
  for (const row of rows) {
    const seconds = (row.config as TreeConfig).pollSeconds;
    const [mine] = await ctx.db
      .update(tree)
      .set({ nextFetchAt: sql`now() + ${seconds} * interval '1 second'` })
      .where(and(eq(tree.id, row.id), eq(tree.active, true), lte(tree.nextFetchAt, sql`now()`)))
      .returning();
    if (mine) taken.push(mine);
  }
  return taken;
}

/** Fetches one tree and records its new heads. */
export async function fetchTree(ctx: StepContext, row: TreeRow): Promise<void> {
  const config = row.config as TreeConfig;
  const dir = mirrorDir(ctx, row.name);
  try {
    await fetchMirror({ dir, url: config.url, reference: config.reference }, ctx.signal);
  } catch (error) {
    if (ctx.signal.aborted) return;
    await noteFailure(ctx, row, (error as Error).message);
    return;
  }
  const heads = await listHeads(dir);
  const missing = config.branches.filter((branch) => !heads.has(branch));
  const note = missing.length > 0 ? `no branch ${missing.join(', ')}` : null;
  if (note && note !== row.fetchError) ctx.log.warn({ tree: row.name, note }, 'a branch is missing');
  await ctx.db
    .update(tree)
    .set({ fetchedAt: new Date(), fetchError: note, fetchFailures: 0 })
    .where(eq(tree.id, row.id));
  for (const branch of config.branches) {
    const sha = heads.get(branch);
    if (sha) await noteHead(ctx, row, config, dir, branch, sha);
  }
}

async function noteHead(
  ctx: StepContext,
  row: TreeRow,
  config: TreeConfig,
  mirror: string,
  branch: string,
  sha: string,
): Promise<void> {
  const [last] = await ctx.db
    .select({ sha: branchHead.sha })
    .from(branchHead)
    .where(and(eq(branchHead.treeId, row.id), eq(branchHead.branch, branch)))
    .orderBy(desc(branchHead.id))
    .limit(1);
  if (last?.sha === sha) return;
  // The commits are there before the head that needs them.
  const from = last && (await isAncestorOf(mirror, last.sha, sha)) ? last.sha : await baselineOf(mirror, config, sha);
  const commits = await recordRange(ctx.db, mirror, from, sha);
  const next = await ctx.store.transact(async (tx): Promise<Next[]> => {
    const head = await recordHead(tx, { treeId: row.id, branch, sha });
    if (!head) return [];
    await insertEvent(tx, { kind: 'tree.head', subject: `tree:${row.name}`, data: { branch, sha, commits } });
    return [{ step: 'plan', id: head.id }];
  });
  if (next.length > 0) ctx.log.info({ tree: row.name, branch, sha, commits }, 'new head');
  await ctx.enqueue(next);
}

async function baselineOf(mirror: string, config: TreeConfig, sha: string): Promise<string | null> {
  const tip = await resolveCommit(mirror, config.baseline);
  return tip ? mergeBase(mirror, tip, sha) : null;
}

async function noteFailure(ctx: StepContext, row: TreeRow, message: string): Promise<void> {
  const failures = row.fetchFailures + 1;
  const seconds = Math.min((row.config as TreeConfig).pollSeconds * 2 ** Math.min(failures, 12), longestBackoffSeconds);
  await ctx.db
    .update(tree)
    .set({
      fetchError: message,
      fetchFailures: failures,
      nextFetchAt: sql`now() + ${seconds} * interval '1 second'`,
    })
    .where(eq(tree.id, row.id));
  ctx.log.warn({ tree: row.name, failures, retrySeconds: seconds }, message);
  if (failures === 1 || message !== row.fetchError)
    await insertEvent(ctx.db, { kind: 'tree.fetch-failed', subject: `tree:${row.name}`, data: { message, failures } });
}
