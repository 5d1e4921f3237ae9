import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { kernel, wantKernel } from '../src/index.ts';
import { createTestDatabase, type TestDatabase } from '../src/testing.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('a kernel that was asked for ahead of need is raised by whoever needs it, also in the middle of its build', async () => {
  const { db } = database.store;
  const wanted = { kind: 'deb' as const, package: 'linux-image-x', packageVersion: '1' };
  const early = await wantKernel(db, { ...wanted, priority: -1 });
  await db.update(kernel).set({ state: 'building' }).where(eq(kernel.id, early.id));
  expect(await wantKernel(db, wanted)).toMatchObject({ id: early.id, state: 'building', priority: 0 });
  expect((await wantKernel(db, { ...wanted, priority: -1 })).priority).toBe(0);
});
