import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterEach, expect, test } from 'vitest';
import { joinServices, processIdentity } from '../src/index.ts';

const folders: string[] = [];
afterEach(() => {
  for (const dir of folders.splice(0)) rmSync(dir, { recursive: true, force: true });
});

function stateFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'kd-home-'));
  folders.push(dir);
  // As a checkout is: the user postgres may pass through, mkdtemp's 0700 wouldn't let it.
  return join(dir, 'state');
}

async function query(url: string, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows[0];
  } finally {
    await client.end();
  }
}

test('a second kdelta joins the running servers, and the last one to leave stops them', async () => {
  const state = stateFolder();
  const first = await joinServices({ state, env: {} });
  const second = await joinServices({ state, env: {} });
  expect(second.databaseUrl).toBe(first.databaseUrl);
  expect(await query(first.databaseUrl, 'show server_encoding')).toEqual({ server_encoding: 'UTF8' });

  await first.leave();
  expect(await query(second.databaseUrl, 'select 1 as one')).toEqual({ one: 1 });
  const redis = new Redis(second.redisUrl);
  expect((await redis.config('GET', 'maxmemory-policy')) as unknown).toContain('noeviction');
  redis.disconnect();

  await second.leave();
  await expect(query(second.databaseUrl, 'select 1')).rejects.toThrow(/ECONNREFUSED/);
}, 60_000);

test('a Postgres that is killed comes back on the same port with what was committed', async () => {
  const state = stateFolder();
  const services = await joinServices({ state, env: {} });
  try {
    await query(services.databaseUrl, 'create table kept as select 7 as n');
    const { pid } = (await query(
      services.databaseUrl,
      "select (regexp_match(pg_read_file('postmaster.pid'), '^[0-9]+'))[1]::int as pid",
    )) as { pid: number };
    process.kill(pid, 'SIGKILL');
    let row: unknown;
    for (let i = 0; i < 100 && !row; i++) {
      await sleep(200);
      row = await query(services.databaseUrl, 'select n from kept').catch(() => undefined);
    }
    expect(row).toEqual({ n: 7 });
  } finally {
    await services.leave();
  }
}, 60_000);

test('the servers stop by themselves when the last kdelta was killed', async () => {
  const state = stateFolder();
  const services = await joinServices({ state, env: {} });
  // Stands for a kdelta that can't say goodbye.
  const killed = spawn('sleep', ['60']);
  writeFileSync(join(state, 'services', 'users', `${processIdentity(killed.pid as number)}.x`), '');
  await services.leave();
  await sleep(5_000);
  expect(await query(services.databaseUrl, 'select 1 as one')).toEqual({ one: 1 });
  killed.kill('SIGKILL');
  let up = true;
  for (let i = 0; i < 100 && up; i++) {
    await sleep(200);
    up = await query(services.databaseUrl, 'select 1').then(
      () => true,
      () => false,
    );
  }
  expect(up).toBe(false);
}, 60_000);

test('DATABASE_URL and REDIS_URL are used as they are', async () => {
  const services = await joinServices({ env: { DATABASE_URL: 'postgres://a/b', REDIS_URL: 'redis://c' } });
  expect([services.databaseUrl, services.redisUrl]).toEqual(['postgres://a/b', 'redis://c']);
});
