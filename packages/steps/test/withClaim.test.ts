import { kernel, listStepTimes, pair, takeBackClaims, testcase } from '@kdelta/store';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { runStep, type StepDef, withClaim } from '../src/index.ts';
import { createTestContext, type TestContext } from './context.ts';

let ctx: TestContext;
let id: number;
let count = 0;
beforeAll(async () => {
  ctx = await createTestContext();
});
afterAll(() => ctx.database.drop());
beforeEach(async () => {
  const [k] = await ctx.db
    .insert(kernel)
    .values({ kind: 'deb', package: `p${count++}` })
    .returning();
  const [t] = await ctx.db
    .insert(testcase)
    .values({ key: `k${count}`, name: 'n', program: 'p', tboxGroup: 'g', params: {}, versions: {}, job: {} })
    .returning();
  const [p] = await ctx.db
    .insert(pair)
    .values({ baseKernelId: k!.id, headKernelId: k!.id, testcaseId: t!.id, state: 'judging' })
    .returning();
  id = p!.id;
  ctx.queued.length = 0;
});
const row = async () => (await ctx.db.select().from(pair).where(eq(pair.id, id)))[0]!;

test('what a step writes last, the end of its claim and the next rows come together', async () => {
  await withClaim(ctx, pair, id, { from: ['judging'] }, ({ finish }) =>
    finish(async (tx) => {
      await tx.update(pair).set({ state: 'judged' }).where(eq(pair.id, id));
      return [{ step: 'bisect', id: 3 }];
    }),
  );
  expect(await row()).toMatchObject({ state: 'judged', claim: null });
  expect(ctx.queued).toEqual([{ step: 'bisect', id: 3 }]);
});

test('a step that lost its claim while it worked writes nothing', async () => {
  await withClaim(ctx, pair, id, { from: ['judging'] }, async ({ finish }) => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    await ctx.db
      .update(pair)
      .set({ claimUntil: new Date(0) })
      .where(eq(pair.id, id));
    await takeBackClaims(ctx.db, pair, ['judging'], undefined, 0);
    await finish(async (tx) => {
      await tx.update(pair).set({ state: 'judged' }).where(eq(pair.id, id));
      return [{ step: 'bisect', id: 3 }];
    });
  });
  expect(await row()).toMatchObject({ state: 'judging', attempt: 1 });
  expect(ctx.queued).toEqual([]);
});

test('a step that is run twice at once works once', async () => {
  let works = 0;
  const run = () =>
    withClaim(ctx, pair, id, { from: ['judging'] }, async ({ finish }) => {
      works++;
      await new Promise((resolve) => setTimeout(resolve, 50));
      await finish(async (tx) => {
        await tx.update(pair).set({ state: 'judged' }).where(eq(pair.id, id));
        return [];
      });
    });
  await Promise.all([run(), run(), run()]);
  expect(works).toBe(1);
});

test('a bug leaves the row to be tried again later, and is written off in the end', async () => {
  const run = () =>
    withClaim(
      ctx,
      pair,
      id,
      {
        from: ['judging'],
        maxAttempts: 2,
        onBug: async (tx, _row, error) => {
          const failure = { class: 'bug' as const, code: 'KD_BUG', message: error.message };
          await tx.update(pair).set({ state: 'failed', failure }).where(eq(pair.id, id));
          return [];
        },
      },
      async () => {
        throw new Error('oops');
      },
    );
  await run();
  expect(await row()).toMatchObject({ state: 'judging', failure: null });
  await ctx.db
    .update(pair)
    .set({ claimUntil: new Date(0) })
    .where(eq(pair.id, id));
  await takeBackClaims(ctx.db, pair, ['judging'], undefined, 0);
  await run();
  expect(await row()).toMatchObject({ state: 'failed', failure: { class: 'bug', message: 'oops' } });
});

test('a row that became due while the step held it is looked at again', async () => {
  let runs = 0;
  const step: StepDef = {
    name: 'judge',
    run: async () => void runs++,
    due: async () => (runs < 2 ? [{ id: 1, attempt: 0 }] : []),
    takeBack: async () => 0,
  };
  await runStep(ctx, step, 1);
  expect(runs).toBe(2);
});

test('the time of every run is counted, also of one that throws', async () => {
  const of = (run: StepDef['run']): StepDef => ({
    name: 'send',
    run,
    due: async () => [],
    takeBack: async () => 0,
  });
  await runStep(
    ctx,
    of(async () => {}),
    1,
  );
  await expect(
    runStep(
      ctx,
      of(() => Promise.reject(new Error('no relay'))),
      1,
    ),
  ).rejects.toThrow('no relay');
  const times = (await listStepTimes(ctx.store.pool)).filter(({ step }) => step === 'send');
  expect(times.map(({ failed, runs }) => ({ failed, runs }))).toEqual([
    { failed: false, runs: 1 },
    { failed: true, runs: 1 },
  ]);
});
