import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { HomeError } from './errors.ts';
import { stateDir } from './folders.ts';
import { keeperScript } from './keeper.ts';
import { withLockFile } from './lock.ts';
import { preparePostgres } from './postgres.ts';
import { isAlive, processIdentity } from './processes.ts';
import { prepareRedis } from './redis.ts';

/** Where Postgres and Redis are; `leave` stops the private ones when nobody else uses them. */
export interface Services {
  databaseUrl: string;
  redisUrl: string;
  leave(): Promise<void>;
}

interface Running {
  keeper: string;
  databaseUrl: string;
  redisUrl: string;
}

/**
 * Joins the private Postgres and Redis of this state folder, starting them when nobody runs them; `DATABASE_URL` and
 * `REDIS_URL` stand for either. With `grace` seconds they stay that long after their last user has left (tests).
 * Throws KD_POSTGRES_START, KD_REDIS_START, KD_PROGRAM_MISSING.
 */
export async function joinServices(
  options: { state?: string; env?: NodeJS.ProcessEnv; grace?: number } = {},
): Promise<Services> {
  const env = options.env ?? process.env;
  if (env.DATABASE_URL && env.REDIS_URL)
    return { databaseUrl: env.DATABASE_URL, redisUrl: env.REDIS_URL, leave: async () => {} };

  const dir = join(options.state ?? stateDir(env), 'services');
  const grace = options.grace ?? 0;
  const users = join(dir, 'users');
  mkdirSync(users, { recursive: true });
  const lock = join(dir, 'lock');
  // One process may join more than once; each has its own file, `pid.start` and a number.
  const me = join(users, `${processIdentity()}.${randomBytes(4).toString('hex')}`);

  const running = await withLockFile(lock, async () => {
    const there = readRunning(dir) ?? (await startServices(dir, grace));
    writeFileSync(me, '');
    return there;
  });
  return {
    databaseUrl: env.DATABASE_URL ?? running.databaseUrl,
    redisUrl: env.REDIS_URL ?? running.redisUrl,
    leave: () =>
      withLockFile(lock, async () => {
        rmSync(me, { force: true });
        if (grace > 0 || readdirSync(users).some((user) => isAlive(identityOf(user)))) return;
        await stopServices(dir);
      }),
  };
}

/** `pid.start` of a user's file name. */
function identityOf(user: string): string {
  return user.split('.').slice(0, 2).join('.');
}

function readRunning(dir: string): Running | null {
  try {
    const running = JSON.parse(readFileSync(join(dir, 'services.json'), 'utf8')) as Running;
    return isAlive(running.keeper) ? running : null;
  } catch {
    return null;
  }
}

async function startServices(dir: string, grace: number): Promise<Running> {
  const passwordFile = join(dir, 'password');
  if (!existsSync(passwordFile)) writeFileSync(passwordFile, randomBytes(18).toString('hex'), { mode: 0o600 });
  const password = readFileSync(passwordFile, 'utf8').trim();
  // A free port may be taken by someone else before the server has it: try again with others.
  for (let attempt = 1; ; attempt++) {
    const [postgresPort, redisPort] = await freePorts(2);
    const postgres = preparePostgres(join(dir, 'postgres'), postgresPort as number, password);
    const redis = prepareRedis(join(dir, 'redis'), redisPort as number, password);
    const script = join(dir, 'keeper.sh');
    writeFileSync(
      script,
      keeperScript(
        [
          { name: 'postgres', command: postgres, stopSignal: 'INT' },
          { name: 'redis', command: redis, stopSignal: 'TERM' },
        ],
        grace,
      ),
      { mode: 0o700 },
    );
    const log = openSync(join(dir, 'keeper.log'), 'a');
    // A session of its own: Ctrl-C in the terminal must not reach the servers before kdelta is done with them.
    const child = spawn('/bin/sh', [script], { cwd: dir, detached: true, stdio: ['ignore', log, log] });
    child.unref();
    const running: Running = {
      keeper: processIdentity(child.pid as number) as string,
      databaseUrl: `postgres://kdelta:${password}@127.0.0.1:${postgresPort}/postgres`,
      redisUrl: `redis://:${password}@127.0.0.1:${redisPort}`,
    };
    writeFileSync(join(dir, 'services.json'), JSON.stringify(running), { mode: 0o600 });
    try {
      await untilAnswering(running);
      return running;
    } catch (error) {
      await stopServices(dir);
      if (attempt === 3)
        throw new HomeError(
          'KD_POSTGRES_START',
          `${(error as Error).message}; see ${join(dir, 'postgres.log')} and redis.log beside it`,
        );
    }
  }
}

async function stopServices(dir: string): Promise<void> {
  const running = readRunning(dir);
  if (!running) return;
  process.kill(Number.parseInt(running.keeper, 10), 'SIGTERM');
  for (let i = 0; i < 300 && isAlive(running.keeper); i++) await sleep(50);
}

async function untilAnswering(running: Running): Promise<void> {
  const deadline = Date.now() + 90_000;
  for (;;) {
    const client = new pg.Client({ connectionString: running.databaseUrl });
    client.on('error', () => {});
    try {
      await client.connect();
      const { rows } = await client.query('select 1 as one');
      await client.end();
      if (rows.length === 1) break;
    } catch (error) {
      await client.end().catch(() => {});
      // Someone else's server answers on the port that we thought free.
      if ((error as { code?: string }).code === '28P01' || Date.now() > deadline) throw error;
      await sleep(50);
    }
  }
  const { Redis } = await import('ioredis');
  const redis = new Redis(running.redisUrl, { lazyConnect: true, retryStrategy: () => 100, maxRetriesPerRequest: 100 });
  redis.on('error', () => {});
  try {
    await redis.ping();
  } finally {
    redis.disconnect();
  }
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve, reject) => {
          server.once('error', reject);
          server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
        }),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
