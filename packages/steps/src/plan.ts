import { join } from 'node:path';
import { isAncestorOf, mergeBase, resolveCommit } from '@kdelta/git';
import type { HostFile, Testcase, TreeConfig } from '@kdelta/jobs';
import { readKconfig } from '@kdelta/kernels';
import {
  branchHead,
  type Db,
  insertEvent,
  kernel,
  type RowOf,
  takeBackClaims,
  tree,
  wantKernel,
  wantPair,
} from '@kdelta/store';
import { and, asc, desc, eq, lt, ne, sql } from 'drizzle-orm';
import { mirrorDir } from './build.ts';
import type { Next, Step, StepContext, StepDef } from './context.ts';
import { readHostsOf, readJobs } from './files.ts';
import { recordRange } from './history.ts';
import { advancePair } from './pairLife.ts';
import { expandOn, wantHost, wantTestcases } from './testcases.ts';
import { only, unclaimed, withClaim } from './withClaim.ts';

/**
 * seen → planned: the head and what it is compared with become kernels, the tree's jobs on its hosts become testcases, and
 * each testcase a pair. seen → skipped when there is nothing to compare with, or the tree's files are wrong (`note`).
 *
 * A head is compared with the branch's last tested head; when the branch is new or its history was rewritten, with its
 * merge base with the tree's baseline. A head that doesn't build or boot is passed over for the one before it.
 */
const run: Step = (ctx, id) =>
  withClaim(
    ctx,
    branchHead,
    id,
    { from: ['seen'], onBug: (tx, row, error) => skip(tx, row, `bug: ${error.message}`) },
    async ({ row, finish }) => {
      const [owner] = await ctx.db.select().from(tree).where(eq(tree.id, row.treeId));
      const config = owner?.config as TreeConfig;
      const mirror = mirrorDir(ctx, config.name);
      const base = await baseOf(ctx.db, mirror, config, row);
      if ('note' in base) {
        await recordRange(ctx.db, mirror, null, row.sha);
        return finish((tx, mine) => skip(tx, mine, base.note));
      }
      await recordRange(ctx.db, mirror, base.sha, row.sha);

      let work: { host: HostFile; text: string; testcases: Testcase[] }[];
      let kconfig: { kconfig: string; kconfigHash: string };
      try {
        const read = await readKconfig(join(ctx.dirs.home, 'kconfig'), config.kconfig);
        kconfig = { kconfig: [config.kconfig.base, ...config.kconfig.fragments].join('+'), kconfigHash: read.hash };
        work = await testcasesOf(ctx, config);
      } catch (error) {
        // A file that a person wrote: they are told, and the next head is planned anew.
        if (!isInputError(error)) throw error;
        return finish((tx, mine) => skip(tx, mine, (error as Error).message));
      }

      await finish(async (tx) => {
        const common = { kind: 'kbuild' as const, treeId: row.treeId, ...kconfig };
        // The base first: the head's build folder is then nearly up to date.
        const baseKernel = await wantKernel(tx, { ...common, sha: base.sha });
        const headKernel = await wantKernel(tx, { ...common, sha: row.sha });
        const next: Next[] = [];
        for (const { host, text, testcases } of work) {
          await wantHost(tx, host);
          for (const testcase of await wantTestcases(tx, testcases, host, text)) {
            const made = await wantPair(tx, {
              treeId: row.treeId,
              branch: row.branch,
              baseKernelId: baseKernel.id,
              headKernelId: headKernel.id,
              testcaseId: testcase.id,
            });
            next.push(...(await advancePair(tx, made.pair.id)));
          }
        }
        await tx.update(branchHead).set({ state: 'planned', note: base.why }).where(eq(branchHead.id, id));
        await insertEvent(tx, {
          kind: 'head.planned',
          subject: `tree:${config.name}`,
          data: { branch: row.branch, head: row.sha, base: base.sha, why: base.why },
        });
        return next;
      });
    },
  );

export const plan: StepDef = {
  name: 'plan',
  run,
  due: (db, id) =>
    db
      .select({ id: branchHead.id, attempt: branchHead.attempt })
      .from(branchHead)
      .where(and(eq(branchHead.state, 'seen'), unclaimed(branchHead), only(branchHead, id)))
      .orderBy(asc(branchHead.id)),
  takeBack: async (db) => (await takeBackClaims(db, branchHead, ['seen'])).length,
};

type Head = RowOf<typeof branchHead>;

/** What the head is compared with, and why; or why there is nothing. */
async function baseOf(
  db: Db,
  mirror: string,
  config: TreeConfig,
  head: Head,
): Promise<{ sha: string; why: string } | { note: string }> {
  const earlier = await db
    .select({ sha: branchHead.sha })
    .from(branchHead)
    .where(
      and(
        eq(branchHead.treeId, head.treeId),
        eq(branchHead.branch, head.branch),
        lt(branchHead.id, head.id),
        ne(branchHead.sha, head.sha),
      ),
    )
    .orderBy(desc(branchHead.id))
    .limit(100);
  let rewritten = false;
  for (const { sha } of earlier) {
    rewritten = !(await isAncestorOf(mirror, sha, head.sha));
    if (rewritten) break;
    if (await isTestable(db, head.treeId, sha)) return { sha, why: `the last tested head of ${head.branch}` };
  }
  const { baseline } = config;
  const tip = await resolveCommit(mirror, baseline);
  if (!tip) return { note: `baseline ${baseline} is not a branch or tag of ${config.name}` };
  const common = await mergeBase(mirror, tip, head.sha);
  if (!common) return { note: `no common history with baseline ${baseline}` };
  if (common === head.sha) return { note: `part of baseline ${baseline}: nothing to compare with yet` };
  if (!(await isTestable(db, head.treeId, common)))
    return { note: `the merge base with ${baseline}, ${common.slice(0, 12)}, doesn't build or boot` };
  const why =
    earlier.length === 0
      ? 'the branch is new'
      : rewritten
        ? 'history was rewritten'
        : `no earlier head of ${head.branch} builds and boots`;
  return { sha: common, why: `${why}: the merge base with ${baseline}` };
}

/** Not known to fail: a commit that doesn't build, or whose pair as a head failed because it doesn't boot, is passed over. */
async function isTestable(db: Db, treeId: number, sha: string): Promise<boolean> {
  const failed = await db
    .select({ id: kernel.id })
    .from(kernel)
    .where(
      and(
        eq(kernel.treeId, treeId),
        eq(kernel.sha, sha),
        sql`(${kernel.state} = 'failed' or exists (
          select 1 from boot b where b.kernel_id = ${kernel.id} and b.failure->>'class' = 'boot'
           and not exists (select 1 from boot g where g.kernel_id = ${kernel.id} and g.state = 'done')
           group by b.testcase_id having count(*) >= 2))`,
      ),
    )
    .limit(1);
  return failed.length === 0;
}

/** The tree's jobs on the first host of each tbox group that it names; further hosts of a group share its testcases. */
async function testcasesOf(
  ctx: StepContext,
  config: TreeConfig,
): Promise<{ host: HostFile; text: string; testcases: Testcase[] }[]> {
  const hosts = readHostsOf(ctx.dirs.home, process.env, config.hosts);
  for (const host of hosts) await wantHost(ctx.db, host);
  const groups = new Map<string, HostFile>();
  for (const host of hosts) if (!groups.has(host.tboxGroup)) groups.set(host.tboxGroup, host);
  const work: { host: HostFile; text: string; testcases: Testcase[] }[] = [];
  for (const name of config.jobs) {
    const jobs = readJobs(ctx.dirs.home, name, ctx.programs);
    for (const host of groups.values())
      for (const { job, text } of jobs) work.push({ host, text, testcases: await expandOn(ctx, job, host) });
  }
  return work;
}

async function skip(tx: Db, row: Head, note: string): Promise<Next[]> {
  await tx.update(branchHead).set({ state: 'skipped', note }).where(eq(branchHead.id, row.id));
  const [owner] = await tx.select({ name: tree.name }).from(tree).where(eq(tree.id, row.treeId));
  await insertEvent(tx, {
    kind: 'head.skipped',
    subject: `tree:${owner?.name}`,
    data: { branch: row.branch, head: row.sha, note },
  });
  return [];
}

function isInputError(error: unknown): boolean {
  return (error as { exitStatus?: number }).exitStatus === 2 || (error as { code?: string }).code === 'KD_KCONFIG';
}
