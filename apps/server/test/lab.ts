import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ArtifactStore, localArtifacts, makeToken, type Store } from '@kdelta/store';
import { createTestDatabase } from '@kdelta/store/testing';
import type { FastifyInstance } from 'fastify';
import pino from 'pino';
import { type SeededLab, seedLab } from '../../../test/seed/seedLab.ts';
import { loadAssets } from '../src/assets.ts';
import { buildServer, type ServerOptions, startServer } from '../src/index.ts';

export interface Lab {
  app: FastifyInstance;
  store: Store;
  artifacts: ArtifactStore;
  ids: SeededLab;
  /** What the server logged, parsed. */
  logged: Record<string, unknown>[];
  /** Rows that the server asked to be queued. */
  queued: { step: string; id: number }[];
  token(scopes: string[], expiresAt?: Date): Promise<string>;
  close(): Promise<void>;
}

/** A server over a seeded lab, on a database and an artifact folder of its own; `listen` opens a port. */
export async function openLab(
  options: Omit<Partial<ServerOptions>, 'config'> & {
    listen?: boolean;
    reading?: 'open' | 'token';
    /** Names of trees that the configuration has. */
    trees?: string[];
  } = {},
): Promise<Lab> {
  const database = await createTestDatabase();
  const dir = mkdtempSync(join(tmpdir(), 'kdelta-server-'));
  const artifacts = localArtifacts(dir);
  const ids = await seedLab(database.store, artifacts);
  const logged: Record<string, unknown>[] = [];
  const queued: Lab['queued'] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const { listen, reading, trees, ...rest } = options;
  const app = await (listen ? startServer : buildServer)({
    config: {
      file: 'kdelta.yaml',
      url: 'http://127.0.0.1',
      listen: { host: '127.0.0.1', port: 0 },
      mail: null,
      reading: reading ?? 'open',
      trees: (trees ?? []).map((name) => ({ name }) as never),
    },
    store: database.store,
    artifacts,
    log: log as never,
    limits: false,
    // From the sources: a bundle in dist/ may be of yesterday.
    assets: await loadAssets(join(dir, 'none')),
    enqueue: async (next) => void queued.push(...next),
    ...rest,
  });
  return {
    app,
    store: database.store,
    artifacts,
    ids,
    logged,
    queued,
    async token(scopes, expiresAt) {
      const name = `test-${scopes.join('-') || 'read'}`;
      return (await makeToken(database.store.pool, { name, scopes, expiresAt: expiresAt ?? null })).token;
    },
    async close() {
      await app.close();
      await database.drop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Every page there is, with what must stand on it. */
export function allPages(ids: SeededLab): [path: string, text: string][] {
  const kpi = encodeURIComponent(ids.kpi);
  return [
    ['/', 'linus'],
    ['/pairs', 'regression'],
    [`/pairs/${ids.pairs.regression}`, ids.kpi],
    [`/pairs/${ids.pairs.regression}?m=${kpi}`, 'Boot by boot'],
    [`/pairs/${ids.pairs.same}`, 'Evidence'],
    [`/pairs/${ids.pairs.failed}`, 'does not build'],
    [`/pairs/${ids.pairs.running}`, 'Not judged yet'],
    ['/bisects', 'bisect 1'],
    [`/bisects/${ids.bisects.done}`, 'mm: clear pages before they are handed out'],
    [`/bisects/${ids.bisects.running}`, 'looking for what changed'],
    [`/bisects/new?pair=${ids.pairs.regression}&metric=${kpi}`, '14 commits'],
    [`/boots/${ids.boots.done}`, 'dbench started'],
    [`/boots/${ids.boots.running}`, '31 s left'],
    [`/boots/${ids.boots.panic}`, 'Kernel panic'],
    [`/commits/${ids.shas[7]}`, 'Tomasz Kowal'],
    [`/kernels/${ids.kernels.head}?against=${ids.kernels.base}`, 'CONFIG_DEBUG_VM'],
    [`/kernels/${ids.kernels.failed}`, 'implicit declaration'],
    ['/history', ids.kpi],
    ['/reports', 'Waiting for a person'],
    [`/r/${ids.reports.draft}`, 'kdelta measured a 27.4% regression'],
    [`/r/${ids.reports.sent}`, '250 2.0.0 Ok'],
    ['/hosts', 'three boots in a row never came up'],
    ['/hosts/qemu-icount', 'What ran'],
    ['/trees', 'could not resolve host'],
    ['/noise', ids.kpi],
    ['/api', '/api/v1/pairs/{id}'],
    [`/compare?base=${ids.kernels.base}&head=${ids.kernels.head}&testcase=${ids.testcases.icount}`, 'not interleaved'],
    ['/sign-in', 'Paste a token'],
  ];
}
