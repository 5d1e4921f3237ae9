import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectStore, insertEvent, isConnectionError, listenEvents, notifyProgress } from '../src/index.ts';
import { createTestDatabase, type TestDatabase } from '../src/testing.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const until = async (ready: () => boolean) => {
  for (let i = 0; i < 200 && !ready(); i++) await sleep(25);
};

test('a listener hears every event once and in order, also those while its connection was cut', async () => {
  const heard: string[] = [];
  const stop = await listenEvents(database.store, (event) => heard.push(event.kind));
  await insertEvent(database.store.db, { kind: 'one', subject: 'boot:1' });
  await until(() => heard.length === 1);
  await database.store.pool
    .query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
    .catch(() => {});
  await insertEvent(database.store.db, { kind: 'two', subject: 'boot:1', data: { n: 1 } });
  await until(() => heard.length === 2);
  await insertEvent(database.store.db, { kind: 'three', subject: 'boot:1' });
  await until(() => heard.length === 3);
  expect(heard).toEqual(['one', 'two', 'three']);
  await stop();
});

test('a listener hears an event whose transaction began first and committed last', async () => {
  const heard: string[] = [];
  const stop = await listenEvents(database.store, (event) => heard.push(event.kind));
  let commit = () => {};
  const slow = database.store.db.transaction(async (tx) => {
    await insertEvent(tx as never, { kind: 'early id', subject: 'boot:1' });
    await new Promise<void>((resolve) => {
      commit = resolve;
    });
  });
  await sleep(50);
  await insertEvent(database.store.db, { kind: 'late id', subject: 'boot:1' });
  await until(() => heard.length === 1);
  commit();
  await slow;
  await until(() => heard.length === 2);
  expect(heard).toEqual(['late id', 'early id']);
  await stop();
});

test('progress is told to who asked for it, and leaves nothing in the audit trail', async () => {
  const subjects: string[] = [];
  const heard: string[] = [];
  const stop = await listenEvents(
    database.store,
    (event) => heard.push(event.kind),
    (subject) => subjects.push(subject),
  );
  await notifyProgress(database.store.db, 'boot:7');
  await until(() => subjects.length === 1);
  expect([subjects, heard]).toEqual([['boot:7'], []]);
  await stop();
});

test('a cut connection is told from a wrong query', async () => {
  const wrong = await database.store.pool.query('select nothing').catch((error: unknown) => error);
  expect(isConnectionError(wrong)).toBe(false);
  const cut = await database.store.pool
    .query('select pg_terminate_backend(pg_backend_pid())')
    .catch((error: unknown) => error);
  expect(isConnectionError(cut)).toBe(true);
});

test('a transaction that is cut off runs again', async () => {
  let runs = 0;
  await database.store.transact(async (tx) => {
    runs++;
    await insertEvent(tx, { kind: 'kept', subject: 'x' });
    if (runs === 1) await tx.execute('select pg_terminate_backend(pg_backend_pid())');
  });
  expect(runs).toBe(2);
  const { rows } = await database.store.pool.query("select count(*)::int as n from event where kind = 'kept'");
  expect(rows[0]).toEqual({ n: 1 });
});

test('a connection that breaks before a transaction begins is given back, and the transaction runs on another', async () => {
  const store = connectStore(database.url, { maxConnections: 1 });
  try {
    // With one connection in all, one that is never given back would leave the second try waiting for ever.
    store.pool.once('acquire', (client) => {
      (client as unknown as { connection: { stream: Socket } }).connection.stream.destroy();
    });
    await store.transact((tx) => insertEvent(tx, { kind: 'after', subject: 'x' }));
    expect(store.pool.totalCount).toBe(store.pool.idleCount);
  } finally {
    await store.close();
  }
});
