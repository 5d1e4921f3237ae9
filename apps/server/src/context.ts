import type { KdeltaConfig } from '@kdelta/jobs';
import type { ArtifactStore, Queryable, Store } from '@kdelta/store';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Assets } from './assets.ts';

/** What every route and page is handed; nothing else is reached for. */
export interface ServerContext {
  config: Pick<KdeltaConfig, 'url' | 'reading' | 'trees' | 'mail'>;
  store: Store;
  /** The same connections, for the statements of the pages. */
  db: Queryable;
  /** Wakes a step: puts an id on its queue. May do nothing: the reconciler enqueues what was missed. */
  enqueue(step: 'watch' | 'bisect' | 'report', id: number): Promise<void>;
  artifacts: ArtifactStore;
  assets: Assets;
  log: FastifyBaseLogger;
  now(): Date;
}

// biome-ignore lint/suspicious/noExplicitAny: fastify's own default for the parts that are not of interest
export type App = FastifyInstance<any, any, any, any, ZodTypeProvider>;
