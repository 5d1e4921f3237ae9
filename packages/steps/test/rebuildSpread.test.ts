import { buildRegistry } from '@kdelta/matrix';
import { host, judgement } from '@kdelta/store';
import { sql } from 'drizzle-orm';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestContext, type TestContext } from './context.ts';
import { openLab, pairOf } from './lab.ts';

let ctx: TestContext;
beforeEach(async () => {
  ctx = await createTestContext({
    metrics: buildRegistry([
      { name: 'pft', metrics: { faults_per_sec_per_cpu: { better: 'higher', kpi: true, kind: 'performance' } } },
    ]),
  });
});
afterEach(async () => {
  ctx.stop();
  await ctx.database.drop();
});

/** Judges a loss of 8 % where the host's file says this of rebuilds. */
async function judged(spread: Record<string, number>) {
  const lab = await openLab(
    ctx,
    [100_000, 92_000].map((level, i) => ({ subject: `mm: ${i}`, author: 'P <p@example.org>', level })),
    {},
  );
  await ctx.db.update(host).set({
    config: sql`config || ${JSON.stringify({ rebuildSpreadPct: spread })}::jsonb`,
  });
  const pair = await lab.plan(0, 1);
  await lab.settle();
  const [row] = await ctx.db.select().from(judgement);
  return { verdict: (await pairOf(ctx, pair)).verdict, asked: row!.asked };
}

test('a change below twice the spread of rebuilds is no regression, and the judgement names that spread', async () => {
  const { verdict, asked } = await judged({ pft: 4.5, dbench: 1 });
  expect(verdict).toBe('inconclusive');
  expect(asked).toMatchObject({ rebuildSpreadPct: 4.5 });
});

test('a change above it is one, and the spread of another benchmark does not count', async () => {
  const { verdict, asked } = await judged({ dbench: 4.5 });
  expect(verdict).toBe('regression');
  expect(asked).not.toHaveProperty('rebuildSpreadPct');
});
