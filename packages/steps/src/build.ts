import { join } from 'node:path';
import type { KernelArtifact, KernelSpec } from '@kdelta/kernels';
import {
  bisect,
  type Db,
  type Failure,
  insertArtifact,
  insertEvent,
  kernel,
  type RowOf,
  type Stored,
  takeBackClaims,
  tree,
} from '@kdelta/store';
import { and, asc, desc, eq, inArray, isNull, lt } from 'drizzle-orm';
import type { Next, Step, StepContext, StepDef } from './context.ts';
import { advancePairsOf, readyBoots } from './pairLife.ts';
import { writeProgress } from './progress.ts';
import { only, TryAgain, unclaimed, withClaim } from './withClaim.ts';

type KernelRow = RowOf<typeof kernel>;

/** A full disk or a lost network is tried again after 5 s, 20 s, 80 s, then every few minutes: about an hour in all. */
const infraAttempts = 10;

/**
 * wanted → building → built | failed. A kernel whose loadable sections and command line equal an earlier one's gets its id
 * as `sameAs`. A failed build is an outcome, kept with its log; `infra` (disk full, no network) is tried again.
 */
const run: Step = async (ctx, id) => {
  // What a bisect or a person waits for goes before the heads in the queue; this one is still due afterwards.
  const [first] = await build.due(ctx.db);
  await buildOne(ctx, first && (await isMoreUrgent(ctx.db, first.id, id)) ? first.id : id);
};

const buildOne: Step = (ctx, id) =>
  withClaim(
    ctx,
    kernel,
    id,
    {
      from: ['wanted'],
      to: 'building',
      onBug: (tx, row, error) => failKernel(tx, row, { class: 'bug', code: 'KD_BUG', message: error.message }, null),
    },
    async ({ row, token, signal, finish }) => {
      const spec = await specOf(ctx, row);
      const progress = writeProgress(ctx, kernel, id, token);
      const outcome = await ctx.buildKernel(spec, { signal, onProgress: progress });
      signal.throwIfAborted();
      if (outcome.kind === 'failed') {
        if (outcome.failureClass === 'infra' && row.attempt < infraAttempts) throw new TryAgain(outcome.message);
        const log = outcome.log ? await ctx.artifacts.putFile(outcome.log).catch(() => null) : null;
        const failure: Failure = {
          class: outcome.failureClass,
          code: outcome.failureClass === 'build' ? 'KD_BUILD_FAILED' : 'KD_BUILD_INFRA',
          message: outcome.message,
          excerpt: outcome.excerpt,
        };
        await finish((tx, mine) => failKernel(tx, mine, failure, log));
        return;
      }
      const { artifact } = outcome;
      const files: [string, Stored][] = [];
      for (const [name, path] of [
        ['build.log', artifact.log],
        ['config', artifact.config],
      ] as const)
        if (path) files.push([name, await ctx.artifacts.putFile(path)]);
      await finish(async (tx) => {
        const sameAs = await equalKernel(tx, row, artifact);
        await tx
          .update(kernel)
          .set({
            state: 'built',
            artifact,
            sameAs,
            buildKey: artifact.buildKey,
            release: artifact.release,
            buildId: artifact.buildId,
            loadHash: artifact.loadHash,
            compiler: artifact.compiler,
            buildMs: artifact.buildMs,
            builtAt: new Date(),
            failure: null,
            progress: null,
          })
          .where(eq(kernel.id, id));
        for (const [name, stored] of files) await insertArtifact(tx, { kernelId: id }, name, stored);
        await insertEvent(tx, {
          kind: 'kernel.built',
          subject: `kernel:${id}`,
          data: { release: artifact.release, cached: outcome.cached, sameAs },
        });
        return [...(await advancePairsOf(tx, id)), ...(await bisectsOf(tx, row)), ...(await readyBoots(tx))];
      });
    },
  );

export const build: StepDef = {
  name: 'build',
  run,
  due: (db, id) =>
    db
      .select({ id: kernel.id, attempt: kernel.attempt })
      .from(kernel)
      .where(and(eq(kernel.state, 'wanted'), unclaimed(kernel), only(kernel, id)))
      .orderBy(desc(kernel.priority), asc(kernel.id)),
  takeBack: async (db) => (await takeBackClaims(db, kernel, ['wanted', 'building'], 'wanted')).length,
};

async function isMoreUrgent(db: Db, one: number, other: number): Promise<boolean> {
  const rows = await db
    .select({ id: kernel.id, priority: kernel.priority })
    .from(kernel)
    .where(inArray(kernel.id, [one, other]));
  const of = (id: number) => rows.find((row) => row.id === id)?.priority ?? 0;
  return of(one) > of(other);
}

/** Where a tree's mirror lies. */
export function mirrorDir(ctx: Pick<StepContext, 'dirs'>, treeName: string): string {
  return join(ctx.dirs.state, 'mirrors', `${treeName}.git`);
}

export async function specOf(ctx: StepContext, row: KernelRow): Promise<KernelSpec> {
  if (row.kind === 'deb')
    return {
      kind: 'deb',
      package: row.package as string,
      ...(row.packageVersion ? { version: row.packageVersion } : {}),
    };
  const [base, ...fragments] = row.kconfig.split('+');
  const kconfig = { base: base as string, fragments };
  if (row.treeId === null)
    return { kind: 'kbuild', tree: 'local', repo: row.repo as string, sha: row.sha as string, kconfig };
  const [owner] = await ctx.db.select({ name: tree.name }).from(tree).where(eq(tree.id, row.treeId));
  const name = (owner as { name: string }).name;
  return { kind: 'kbuild', tree: name, repo: mirrorDir(ctx, name), sha: row.sha as string, kconfig };
}

/** The first kernel that loads the same bytes and is started with the same parameters. */
async function equalKernel(tx: Db, row: KernelRow, artifact: KernelArtifact): Promise<number | null> {
  if (!artifact.loadHash) return null;
  const [first] = await tx
    .select({ id: kernel.id })
    .from(kernel)
    .where(
      and(
        eq(kernel.loadHash, artifact.loadHash),
        eq(kernel.cmdline, row.cmdline),
        eq(kernel.state, 'built'),
        isNull(kernel.sameAs),
        lt(kernel.id, row.id),
      ),
    )
    .orderBy(asc(kernel.id))
    .limit(1);
  return first?.id ?? null;
}

async function failKernel(tx: Db, row: KernelRow, failure: Failure, log: Stored | null): Promise<Next[]> {
  await tx
    .update(kernel)
    .set({ state: 'failed', failure, progress: null, builtAt: new Date() })
    .where(eq(kernel.id, row.id));
  if (log) await insertArtifact(tx, { kernelId: row.id }, 'build.log', log);
  await insertEvent(tx, {
    kind: 'kernel.failed',
    subject: `kernel:${row.id}`,
    data: { class: failure.class, message: failure.message },
  });
  return [...(await advancePairsOf(tx, row.id)), ...(await bisectsOf(tx, row))];
}

/** Running bisects of the kernel's tree: one of them may wait for it. */
async function bisectsOf(tx: Db, row: KernelRow): Promise<Next[]> {
  if (row.treeId === null) return [];
  const rows = await tx
    .select({ id: bisect.id, attempt: bisect.attempt })
    .from(bisect)
    .where(and(eq(bisect.treeId, row.treeId), inArray(bisect.state, ['running', 'verifying'])));
  return rows.map((r) => ({ step: 'bisect', ...r }));
}
