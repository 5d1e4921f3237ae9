import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { homeDir, joinServices, type Services } from '@kdelta/home';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { openQueues, type Queues } from '../src/index.ts';

let services: Services;
let queues: Queues;
let prefix: string;
beforeAll(async () => {
  services = await joinServices({ state: join(homeDir(), '.kdelta', 'test'), env: {}, grace: 60 });
});
afterAll(() => services.leave());
beforeEach(() => {
  prefix = `test-${randomBytes(6).toString('hex')}`;
  queues = openQueues(services.redisUrl, { prefix });
});
afterEach(() => queues.close());

const until = async (ready: () => boolean) => {
  for (let i = 0; i < 400 && !ready(); i++) await sleep(25);
};

test('a message is handled once, however often it was added', async () => {
  for (let i = 0; i < 3; i++) await queues.add('boot', { id: 7, attempt: 0 });
  const seen: number[] = [];
  queues.take('boot', 2, async ({ id }) => void seen.push(id));
  await until(() => seen.length > 0);
  await sleep(100);
  expect(seen).toEqual([7]);
  expect(await queues.count('boot')).toEqual({ waiting: 0, active: 0 });
});

test('a handled message can be added again, and so can the next attempt of one that is being worked on', async () => {
  const seen: string[] = [];
  let go = () => {};
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  queues.take('build', 2, async ({ id, attempt }) => {
    seen.push(`${id}-${attempt}`);
    if (attempt === 0 && seen.length === 1) await gate;
  });
  await queues.add('build', { id: 1, attempt: 0 });
  await until(() => seen.length === 1);
  await queues.add('build', { id: 1, attempt: 1 });
  await until(() => seen.length === 2);
  go();
  for (let i = 0; i < 40 && seen.length < 3; i++) {
    await queues.add('build', { id: 1, attempt: 0 });
    await sleep(25);
  }
  expect(seen.slice(0, 3)).toEqual(['1-0', '1-1', '1-0']);
});

test('emptied in the middle, a queue goes on with what is added next', async () => {
  const seen: number[] = [];
  queues.take('judge', 1, async ({ id }) => {
    seen.push(id);
    await sleep(100);
  });
  for (let id = 1; id <= 5; id++) await queues.add('judge', { id, attempt: 0 });
  await until(() => seen.length === 1);
  const redis = new Redis(services.redisUrl);
  // What FLUSHALL does to these queues, without doing it to those of other tests.
  const keys = await redis.keys(`${prefix}:*`);
  await redis.del(...keys);
  redis.disconnect();
  await queues.add('judge', { id: 9, attempt: 0 });
  await until(() => seen.includes(9));
  expect(seen).toContain(9);
});

test('what is no message is reported and does not stop the queue', async () => {
  const errors: Error[] = [];
  const strict = openQueues(services.redisUrl, { prefix, onError: (error) => errors.push(error) });
  const seen: number[] = [];
  strict.take('plan', 1, async ({ id }) => void seen.push(id));
  await strict.add('plan', { id: -1, attempt: 0 });
  await strict.add('plan', { id: 2, attempt: 0 });
  await until(() => seen.length === 1);
  expect(seen).toEqual([2]);
  expect(errors).toHaveLength(1);
  await strict.close();
});

test('without Redis an add returns false instead of waiting for it', async () => {
  const away: number[] = [];
  const nowhere = openQueues('redis://127.0.0.1:1', { onWaiting: (state) => state.away && away.push(1) });
  expect(await nowhere.add('plan', { id: 1, attempt: 0 })).toBe(false);
  expect(away).toEqual([1]);
  await nowhere.close();
});
