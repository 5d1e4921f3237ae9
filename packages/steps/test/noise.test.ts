import { buildRegistry } from '@kdelta/matrix';
import { boot, judgement, listNoise, noise, packJudgement, saveBootMatrix } from '@kdelta/store';
import { asc, eq } from 'drizzle-orm';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { rebuildNoise } from '../src/index.ts';
import { createTestContext, type TestContext } from './context.ts';
import { judgeAgain } from './judgeAgain.ts';
import { type LabCommit, openLab, pairOf } from './lab.ts';

// The noise model that judgements leave behind, on a real database; builds and boots are lab.ts's.

let ctx: TestContext;
beforeEach(async () => {
  ctx = await openContext();
});
afterEach(async () => {
  ctx.stop();
  await ctx.database.drop();
});

const openContext = () =>
  createTestContext({
    metrics: buildRegistry([
      { name: 'pft', metrics: { faults_per_sec_per_cpu: { better: 'higher', kpi: true, kind: 'performance' } } },
    ]),
  });

/** Commits that change nothing, so that no bisect boots anything. */
const quiet = (count: number): LabCommit[] =>
  Array.from({ length: count }, (_, i) => ({ subject: `lib: tidy ${i}`, author: 'P <p@example.org>', level: 100_000 }));

const stored = (of: TestContext) => of.db.select().from(noise).orderBy(asc(noise.testcaseId), asc(noise.metricId));

test('after any judgements the stored model is what a rebuild from the boots gives', async () => {
  const pairs = fc.uniqueArray(
    fc.tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 4 })).filter(([base, head]) => base < head),
    { minLength: 1, maxLength: 4, selector: ([base, head]) => `${base} ${head}` },
  );
  await fc.assert(
    fc.asyncProperty(pairs, async (planned) => {
      const fresh = await openContext();
      try {
        const lab = await openLab(fresh, quiet(5), {});
        for (const [base, head] of planned) {
          await lab.plan(base, head);
          await lab.settle();
        }
        const kept = await stored(fresh);
        expect(kept.map((row) => row.kpi).sort()).toEqual([false, true]);
        await fresh.db.delete(noise);
        expect(await rebuildNoise(fresh.store, fresh.metrics)).toEqual({ testcases: 1, metrics: 2 });
        expect(await stored(fresh)).toEqual(kept);
      } finally {
        fresh.stop();
        await fresh.database.drop();
      }
    }),
    { numRuns: 4 },
  );
});

test('each judgement adds its boots, and the list says how they scatter', async () => {
  const lab = await openLab(ctx, quiet(3), {}, 0.02);
  await lab.plan(0, 1);
  await lab.settle();
  const [first] = await listNoise(ctx.store.pool);
  await lab.plan(1, 2);
  await lab.settle();
  const [second, ...others] = await listNoise(ctx.store.pool);
  expect(others).toEqual([]);
  expect(second).toMatchObject({ metric: 'pft.faults_per_sec_per_cpu', kernels: 3, tbox_group: 'qemu-icount' });
  expect(second!.boots).toBeGreaterThan(first!.boots);
  expect(second!.up_to_boot).toBeGreaterThan(first!.up_to_boot);
  // Uniform over 2 % of the level: a standard deviation of 2 %/√12.
  expect(second!.within_pct).toBeGreaterThan(0.6 * (2 / Math.sqrt(12)));
  expect(second!.within_pct).toBeLessThan(1.5 * (2 / Math.sqrt(12)));
  expect((await listNoise(ctx.store.pool, { all: true })).map((row) => row.metric).sort()).toEqual([
    'pft.faults_per_sec_per_cpu',
    'vmstat.pgfault',
  ]);
});

test('judging again gives the same bytes, also after a boot below the cut-off has ended', async () => {
  const lab = await openLab(ctx, quiet(3), {});
  const first = await lab.plan(0, 1);
  await lab.settle();
  const late = (await pairOf(ctx, first)).headKernelId;
  const [running] = await ctx.db
    .insert(boot)
    .values({ kernelId: late, testcaseId: lab.testcaseId, state: 'running' })
    .returning({ id: boot.id });
  // Of kernels that are neither: the running boot's kernel will be history of this pair.
  const second = await lab.plan(0, 2);
  await lab.settle();
  const { judgementId } = await pairOf(ctx, second);
  const [kept] = await ctx.db.select().from(judgement).where(eq(judgement.id, judgementId!));
  expect(kept!.historyBoots!.length).toBeGreaterThan(0);
  expect(kept!.historyCutoff).toBeGreaterThan(running!.id);

  await ctx.store.transact(async (tx) => {
    await tx.update(boot).set({ state: 'done', startedAt: new Date() }).where(eq(boot.id, running!.id));
    const values = new Map([
      ['pft.faults_per_sec_per_cpu', 150_000],
      ['vmstat.pgfault', 1],
    ]);
    await saveBootMatrix(tx, { bootId: running!.id, testcaseId: lab.testcaseId, values, kpis: new Set() });
  });
  const again = await judgeAgain(ctx.db, judgementId!, ctx.metrics);
  expect(packJudgement(again!).equals(kept!.packed)).toBe(true);
});
