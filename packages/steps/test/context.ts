import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildRegistry } from '@kdelta/matrix';
import { localArtifacts } from '@kdelta/store';
import { createTestDatabase, type TestDatabase } from '@kdelta/store/testing';
import { pino } from 'pino';
import type { Next, StepContext } from '../src/index.ts';

export interface TestContext extends StepContext {
  database: TestDatabase;
  /** What was queued so far. */
  queued: Next[];
  stop(): void;
}

/** A context on a throw-away database; what is queued is only noted. */
export async function createTestContext(over: Partial<StepContext> = {}): Promise<TestContext> {
  const opened = await createTestDatabase();
  const state = mkdtempSync(join(tmpdir(), `kd-steps-${randomBytes(3).toString('hex')}-`));
  const stop = new AbortController();
  const database = {
    ...opened,
    async drop() {
      await opened.drop();
      rmSync(state, { recursive: true, force: true });
    },
  };
  const queued: Next[] = [];
  return {
    database,
    queued,
    stop: () => stop.abort(),
    store: database.store,
    db: database.store.db,
    artifacts: localArtifacts(join(state, 'artifacts')),
    enqueue: async (next) => void queued.push(...next),
    programs: new Map(),
    config: {
      file: '',
      url: 'http://127.0.0.1',
      listen: { host: '127.0.0.1', port: 0 },
      mail: null,
      reading: 'open',
      trees: [],
    },
    log: pino({ level: process.env.KDELTA_LOG ?? 'silent' }),
    clock: {
      now: () => new Date(),
      sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => {}),
    },
    signal: stop.signal,
    dirs: { home: state, state, cache: state },
    buildKernel: () => Promise.reject(new Error('this test builds nothing')),
    driverOf: () => {
      throw new Error('this test boots nothing');
    },
    bootHost: () => Promise.reject(new Error('this test boots nothing')),
    metrics: buildRegistry(),
    ...over,
  };
}
