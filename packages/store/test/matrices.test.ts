import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  bootMatrix,
  type Db,
  kpiSample,
  loadMatrix,
  metricLayout,
  packValues,
  saveBootMatrix,
  unpackValues,
} from '../src/index.ts';
import { createTestDatabase, type TestDatabase } from '../src/testing.ts';
import { insertBoots } from './boots.ts';

let database: TestDatabase;
let db: Db;
let fixture: Awaited<ReturnType<typeof insertBoots>>;
beforeAll(async () => {
  database = await createTestDatabase();
  db = database.store.db;
  fixture = await insertBoots(db, 6);
});
afterAll(() => database.drop());

const save = (index: number, values: Record<string, number>, kpis: string[] = []) =>
  database.store.transact((tx) =>
    saveBootMatrix(tx, {
      bootId: fixture.boots[index]!.id,
      testcaseId: fixture.testcase.id,
      values: new Map(Object.entries(values)),
      kpis: new Set(kpis),
    }),
  );

test('float64s come back bit by bit, and an absent one as NaN', () => {
  const values = Float64Array.of(0, -0, 1e-308, 2 ** 53 + 2, Number.NaN, 0.1);
  expect([...unpackValues(packValues(values))]).toEqual([...values]);
});

test('boots with different metrics share an append-only layout; what a boot lacks is null, a zero stays 0', async () => {
  await save(0, { 'a.x': 1.5, 'a.zero': 0 }, ['a.x']);
  await save(1, { 'a.zero': 2, 'b.y': -3 });
  const matrix = await loadMatrix(
    db,
    [0, 1, 2].map((index) => fixture.boots[index]!.id),
  );
  expect(Object.fromEntries(matrix.metrics)).toEqual({
    'a.x': [1.5, null, null],
    'a.zero': [0, 2, null],
    'b.y': [null, -3, null],
  });
  expect(await db.select().from(metricLayout)).toHaveLength(1);
  expect((await db.select().from(kpiSample)).map((row) => row.value)).toEqual([1.5]);
});

test('a boot is counted once: its second matrix is refused', async () => {
  await expect(save(0, { 'a.x': 9 })).rejects.toThrow();
  const rows = await db.select().from(bootMatrix).where(eq(bootMatrix.bootId, fixture.boots[0]!.id));
  expect(rows).toHaveLength(1);
});

test('a number that is not finite is refused by name', async () => {
  await expect(save(3, { 'a.x': Number.POSITIVE_INFINITY })).rejects.toThrow(/KD_SAMPLE_NOT_FINITE: a\.x/);
});

test('boots that bring the same new metrics at the same time end up in one layout', async () => {
  const values = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`new.${i}`, i]));
  await Promise.all([save(3, values), save(4, values), save(5, values)]);
  const layouts = await db.select().from(metricLayout);
  expect(layouts).toHaveLength(1);
  expect(new Set(layouts[0]!.metricIds).size).toBe(layouts[0]!.metricIds.length);
  const matrix = await loadMatrix(db, [fixture.boots[3]!.id, fixture.boots[5]!.id]);
  expect(matrix.metrics.get('new.199')).toEqual([199, 199]);
});
