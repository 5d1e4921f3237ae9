import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive, processIdentity } from '@kdelta/home';
import { openQueues } from '@kdelta/queue';
import type { BootHost, StepContext } from '@kdelta/steps';
import { connectStore, localArtifacts } from '@kdelta/store';
import { work } from '@kdelta/worker';
import { pino } from 'pino';
import { bootResult, frontParts, type Repo } from '../../packages/steps/test/front.ts';

/*
 * A worker that is killed by the tests. Steps, queues and tables are the real ones; compiler and hosts are front.ts's. A
 * guest outlives the worker, as QEMU does: a detached shell that notes its start in `witness` and its result in the
 * boot's folder a while later.
 */

const env = process.env as Record<string, string>;
const state = env.FAULT_STATE as string;
const guestSeconds = Number(env.FAULT_GUEST_SECONDS ?? '1');

const bootHost: BootHost = async (work, { signal, onProgress }) => {
  const result = join(work.dir, 'speed');
  const guest = join(work.dir, 'guest');
  if (work.resume) {
    if (!existsSync(guest) || !(existsSync(result) || isAlive(readFileSync(guest, 'utf8')))) return null;
  } else {
    mkdirSync(work.dir, { recursive: true });
    const script = 'echo "$1" >>"$2/witness"; sleep "$3"; cp "$4" "$5.new"; mv "$5.new" "$5"';
    const argv = ['-c', script, 'guest', work.token, state, String(guestSeconds), work.kernel.image, result];
    const child = spawn('/bin/sh', argv, { detached: true, stdio: 'ignore' });
    child.unref();
    writeFileSync(guest, processIdentity(child.pid as number) as string);
  }
  onProgress('running', { phase: 'program' });
  while (!existsSync(result)) {
    await sleep(50);
    signal.throwIfAborted();
  }
  return bootResult(work.dir, work.token, readFileSync(result, 'utf8'));
};

const log = pino({ level: env.KDELTA_LOG ?? 'info' }, pino.destination(join(state, 'worker.log')));
const waiting = (server: string) => (away: object) => log.warn({ server, ...away }, 'waiting');
const store = connectStore(env.DATABASE_URL as string, { onWaiting: waiting('postgres') });
const queues = openQueues(env.REDIS_URL as string, { onWaiting: waiting('redis') });
const stop = new AbortController();
process.on('SIGTERM', () => stop.abort());

const parts = await frontParts(state, { dir: env.FAULT_REPO } as Repo);
const config = parts.config as StepContext['config'];
config.mail = { smtp: env.FAULT_SMTP as string, from: 'kdelta@example.org' };
const ctx = {
  ...parts,
  store,
  db: store.db,
  artifacts: localArtifacts(join(state, 'artifacts')),
  enqueue: async (next) => {
    await Promise.all(next.map(({ step, id, attempt = 0 }) => queues.add(step, { id, attempt })));
  },
  log,
  clock: { now: () => new Date(), sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => {}) },
  signal: stop.signal,
  claimTtlMs: 3_000,
  bootHost,
} as StepContext;
await work(ctx, queues, {}, 1_000);
await queues.close();
await store.close();
