import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  boot,
  claimRow,
  type Db,
  host,
  leaseHost,
  lockClaimed,
  releaseClaim,
  releaseHost,
  renewClaim,
  renewLease,
  setHostState,
  takeBackClaims,
} from '../src/index.ts';
import { createTestDatabase, type TestDatabase } from '../src/testing.ts';
import { insertBoots } from './boots.ts';

let database: TestDatabase;
let db: Db;
let fixture: Awaited<ReturnType<typeof insertBoots>>;
beforeAll(async () => {
  database = await createTestDatabase();
  db = database.store.db;
  fixture = await insertBoots(db, 4);
});
afterAll(() => database.drop());

test('of twenty who claim a row at once one gets it', async () => {
  const id = fixture.boots[0]!.id;
  const claims = await Promise.all(
    Array.from({ length: 20 }, () => claimRow(db, boot, id, { from: ['wanted'], to: 'claimed', ttlMs: 60_000 })),
  );
  expect(claims.filter(Boolean)).toHaveLength(1);
});

test('an expired claim is taken back with a new attempt, and its former holder writes nothing more', async () => {
  const id = fixture.boots[1]!.id;
  const old = await claimRow(db, boot, id, { from: ['wanted'], to: 'claimed', ttlMs: -1 });
  expect(await takeBackClaims(db, boot, ['claimed'], 'wanted', 0)).toEqual([id]);
  const next = await claimRow(db, boot, id, { from: ['wanted'], to: 'claimed', ttlMs: 60_000 });
  expect(next!.row.attempt).toBe(1);
  expect(await renewClaim(db, boot, id, old!.token, 60_000)).toBe(false);
  expect(await database.store.transact((tx) => lockClaimed(tx, boot, id, old!.token))).toBeNull();
  expect(await releaseClaim(db, boot, id, old!.token, { state: 'done' })).toBe(false);
  expect((await db.select().from(boot).where(eq(boot.id, id)))[0]!.state).toBe('claimed');
});

test('a lease that has passed to another epoch can be neither prolonged nor given back', async () => {
  const hostId = fixture.host.id;
  const bootId = fixture.boots[2]!.id;
  const owner = '00000000-0000-4000-8000-000000000001';
  const first = await leaseHost(db, hostId, bootId, owner, -1);
  const second = await leaseHost(db, hostId, bootId, owner, 60_000, 0);
  expect(second!.epoch).toBe(first!.epoch + 1);
  expect(await renewLease(db, first!, 60_000)).toBe(false);
  await releaseHost(db, first!, 'good');
  expect(await leaseHost(db, hostId, bootId, owner, 60_000)).toBeNull();
  await releaseHost(db, second!, 'good');
  expect(await leaseHost(db, hostId, bootId, owner, 60_000)).not.toBeNull();
});

test('a host that is taken out while a boot runs stays out when the boot ends', async () => {
  const { id: hostId, name } = fixture.host;
  const bootId = fixture.boots[2]!.id;
  const owner = '00000000-0000-4000-8000-000000000002';
  await db.update(host).set({ state: 'idle', leaseOwner: null, leaseUntil: null }).where(eq(host.id, hostId));
  const lease = await leaseHost(db, hostId, bootId, owner, 60_000);
  await setHostState(database.store.pool, name, 'maintenance', 'a new fan');
  await releaseHost(db, lease!, 'good');
  expect(await leaseHost(db, hostId, bootId, owner, 60_000)).toBeNull();
  await setHostState(database.store.pool, name, 'idle', null);
  expect(await leaseHost(db, hostId, bootId, owner, 60_000)).not.toBeNull();
});
