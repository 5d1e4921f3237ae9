import { afterAll, beforeAll, expect, test } from 'vitest';
import { boot, loadHistory, packFullBlocks, saveBootMatrix } from '../src/index.ts';
import { createTestDatabase, type TestDatabase } from '../src/testing.ts';
import { insertBoots } from './boots.ts';

const BOOTS = 150;
let database: TestDatabase;
let fixture: Awaited<ReturnType<typeof insertBoots>>;
beforeAll(async () => {
  database = await createTestDatabase();
  fixture = await insertBoots(database.store.db, BOOTS);
  await database.store.db.update(boot).set({ state: 'done', startedAt: new Date(1.7e12) });
});
afterAll(() => database.drop());

const history = (metric: string, limit = 10_000) =>
  loadHistory(database.store.pool, { testcaseId: fixture.testcase.id, metric, limit });

test('blocks change nothing of a history: growing layouts, gaps, the boots after the last block', async () => {
  // 100 metrics from the start (two groups of slots), one more from boot 50 on, and one that every third boot lacks.
  for (const [i, { id }] of fixture.boots.entries()) {
    const values = new Map(Array.from({ length: 100 }, (_, m) => [`m.${m}`, i * 1000 + m]));
    if (i >= 50) values.set('late.x', i);
    if (i % 3) values.set('gaps.x', -i);
    await database.store.transact((tx) =>
      saveBootMatrix(tx, { bootId: id, testcaseId: fixture.testcase.id, values, kpis: new Set() }),
    );
  }
  const names = ['m.0', 'm.99', 'late.x', 'gaps.x'];
  const all = () => Promise.all(names.map((name) => history(name)));
  const before = await all();
  expect(before.map((one) => one.values.length)).toEqual([150, 150, 100, 100]);
  expect(before[1]!.values.slice(0, 2)).toEqual([99, 1099]);
  expect(before[2]!.boots[0]).toBe(fixture.boots[50]!.id);

  expect(await packFullBlocks(database.store)).toBe(2);
  const { rows } = await database.store.pool.query(
    'select count(*) filter (where block is null)::int tail, count(distinct block)::int blocks from boot_matrix',
  );
  expect(rows).toEqual([{ tail: BOOTS - 128, blocks: 2 }]);
  expect(await all()).toEqual(before);
  expect((await history('m.0', 30)).values).toEqual(before[0]!.values.slice(-30));
  expect(await packFullBlocks(database.store)).toBe(0);
});

test('a boot that is deleted is in no history, although its block keeps its numbers', async () => {
  const { values, boots } = await history('m.5');
  await database.store.pool.query('delete from boot where id = $1', [fixture.boots[7]!.id]);
  const after = await history('m.5');
  expect(after.boots).toEqual(boots.filter((id) => id !== fixture.boots[7]!.id));
  expect(after.values).toHaveLength(values.length - 1);
});

test('what a history knows of a boot that has not ended is read again', async () => {
  const { boots } = await history('m.5');
  const move = (seconds: number, ended: boolean) =>
    database.store.pool.query(
      'update boot set started_at = to_timestamp($1), finished_at = case when $2 then now() end where id = $3',
      [seconds, ended, boots.at(-1)],
    );
  const at = async () => (await history('m.5')).at.at(-1);
  expect(await at()).toBe(1.7e9);
  await move(1.8e9, true);
  expect(await at()).toBe(1.8e9);
});
