import type { HostDriver } from '@kdelta/hosts';
import type { HostFile, KdeltaConfig } from '@kdelta/jobs';
import type { BuildOutcome, KernelSpec } from '@kdelta/kernels';
import type { Registry } from '@kdelta/matrix';
import type { Programs } from '@kdelta/programs';
import type { StepName } from '@kdelta/queue';
import type { ArtifactStore, Db, Progress, Store } from '@kdelta/store';
import type { Logger } from 'pino';
import type { BootHost } from './bootHost.ts';

/** A row that the next step should look at. */
export interface Next {
  step: StepName;
  id: number;
  attempt?: number;
}

/** All that a step may touch of the world; a test hands in its own. */
export interface StepContext {
  store: Store;
  db: Db;
  artifacts: ArtifactStore;
  /** Queues rows after their transaction has committed; losing one costs at most the reconciler's interval. */
  enqueue(next: Next[]): Promise<void>;
  programs: Programs;
  config: KdeltaConfig;
  log: Logger;
  clock: Clock;
  /** Fires when the program ends: steps give their claims back and stop. */
  signal: AbortSignal;
  /** How long a claim or lease lasts without a sign of life; default claimTtlMs. */
  claimTtlMs?: number;
  dirs: { home: string; state: string; cache: string };
  /** Builds or fetches a kernel (packages/kernels). */
  buildKernel(spec: KernelSpec, options: BuildOptions): Promise<BuildOutcome>;
  /** The driver of a host (packages/hosts). */
  driverOf(host: HostFile): HostDriver;
  /** Runs one boot on a host (packages/runner). */
  bootHost: BootHost;
  /** What is known of metrics, from the programs' meta.yaml and the pattern rules. */
  metrics: Registry;
}

export interface BuildOptions {
  signal: AbortSignal;
  onProgress(progress: Progress): void;
}

export interface Clock {
  now(): Date;
  /** Resolves after `ms`, or at once when `signal` fires. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** One arrow of the picture in DESIGN.md: claims its row, does one thing, writes the result and the next rows. */
export type Step = (ctx: StepContext, id: number) => Promise<void>;

/** A step and what the frame needs to know to call it. */
export interface StepDef {
  name: StepName;
  run: Step;
  /**
   * Rows (or the one row `id`) that the step should look at now: in the right state, held by nobody, with something to do.
   * What this returns is queued by the reconciler, and called again by the worker that has just run the step on `id`.
   */
  due(db: Db, id?: number): Promise<{ id: number; attempt: number }[]>;
  /** Takes back the rows whose claim has expired; returns how many. */
  takeBack(db: Db): Promise<number>;
}
