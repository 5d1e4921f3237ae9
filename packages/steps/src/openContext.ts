import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cacheDir, homeDir, joinServices, stateDir } from '@kdelta/home';
import { createDriver } from '@kdelta/hosts';
import type { HostFile } from '@kdelta/jobs';
import { buildKernel } from '@kdelta/kernels';
import { buildRegistry } from '@kdelta/matrix';
import { loadPrograms, programRoots } from '@kdelta/programs';
import { openQueues, type Queues } from '@kdelta/queue';
import { connectStore, localArtifacts, migrateStore } from '@kdelta/store';
import type { Logger } from 'pino';
import { bootWith } from './bootHost.ts';
import type { StepContext } from './context.ts';
import { checkTrees, readConfig } from './files.ts';

export interface OpenContext {
  ctx: StepContext;
  queues: Queues;
  env: NodeJS.ProcessEnv;
  close(): Promise<void>;
}

/**
 * The real world for the steps: joins or starts Postgres and Redis, brings the tables up to date, reads programs and
 * kdelta.yaml. `signal` ends what runs; then call `close`. Throws InputError, UnknownName, HomeError.
 */
export async function openContext(options: {
  log: Logger;
  signal: AbortSignal;
  env?: NodeJS.ProcessEnv;
  configFile?: string;
  /** Refuse a kdelta.yaml whose trees name jobs, hosts or kconfigs that aren't there. */
  checkTrees?: boolean;
}): Promise<OpenContext> {
  const env = options.env ?? process.env;
  const { log } = options;
  const dirs = { home: homeDir(), state: stateDir(env), cache: cacheDir(env) };
  // What can be wrong with files is said before anything is started.
  const config = readConfig(dirs.home, env, options.configFile);
  const programs = await loadPrograms(programRoots(env));
  if (options.checkTrees) await checkTrees(dirs.home, env, config, programs);
  mkdirSync(dirs.state, { recursive: true });

  const services = await joinServices({ state: dirs.state, env });
  const waiting = (server: string) => (state: { away: boolean; error?: Error; seconds: number }) =>
    state.away
      ? log.warn({ server, seconds: state.seconds, reason: state.error?.message }, `${server} is away; waiting for it`)
      : log.info({ server, seconds: state.seconds }, `${server} is back`);
  const store = connectStore(services.databaseUrl, { onWaiting: waiting('postgres'), maxConnections: 20 });
  await migrateStore(store);
  const queues = openQueues(services.redisUrl, {
    onWaiting: waiting('redis'),
    onError: (error) => log.error({ err: error }, 'queue'),
  });

  const progress = (what: string) => log.info({ what }, what);
  const driverOf = (host: HostFile) => createDriver(host, { cacheDir: dirs.cache, progress });
  const ctx: StepContext = {
    store,
    db: store.db,
    artifacts: localArtifacts(join(dirs.state, 'artifacts')),
    async enqueue(next) {
      await Promise.all(next.map(({ step, id, attempt = 0 }) => queues.add(step, { id, attempt })));
    },
    programs,
    metrics: buildRegistry(programs.values()),
    config,
    log,
    clock: {
      now: () => new Date(),
      sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => {}),
    },
    signal: options.signal,
    dirs,
    buildKernel: (spec, { signal, onProgress }) =>
      buildKernel(spec, {
        cacheDir: dirs.cache,
        kconfigDir: join(dirs.home, 'kconfig'),
        signal,
        progress: ({ phase, message, fraction }) => onProgress({ phase, note: message, fraction }),
      }),
    driverOf,
    bootHost: bootWith(driverOf, programs, dirs.cache),
  };
  return {
    ctx,
    queues,
    env,
    async close() {
      await queues.close();
      await store.close();
      await services.leave();
    },
  };
}
