import type { KdeltaConfig } from '@kdelta/jobs';
import type { Registry } from '@kdelta/matrix';
import type { Programs } from '@kdelta/programs';
import type { StepContext } from '@kdelta/steps';
import type { ArtifactStore, Queryable, Store } from '@kdelta/store';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Assets } from './assets.ts';

/** What every route and page is handed; nothing else is reached for. */
export interface ServerContext {
  config: KdeltaConfig;
  store: Store;
  /** The same connections, for the statements of the pages. */
  db: Queryable;
  /** Wakes steps; may do nothing: the reconciler enqueues what was missed. */
  enqueue: StepContext['enqueue'];
  artifacts: ArtifactStore;
  programs: Programs;
  /** Mirrors lie in `state`, built parsers in `cache`. */
  dirs: StepContext['dirs'];
  /** What the programs say of their metrics. */
  metrics: Registry;
  assets: Assets;
  log: FastifyBaseLogger;
  now(): Date;
  /** Id of the newest event that open pages were told. */
  lastEvent(): number;
  /** Grows with everything that open pages are told, before they are. */
  changes(): number;
}

// biome-ignore lint/suspicious/noExplicitAny: fastify's own default for the parts that are not of interest
export type App = FastifyInstance<any, any, any, any, ZodTypeProvider>;
