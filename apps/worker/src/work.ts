import type { Queues, StepName } from '@kdelta/queue';
import { keepReconciling, runStep, type StepContext, steps } from '@kdelta/steps';

export interface Concurrency {
  /** Kernels built at once; each uses all CPUs. */
  build: number;
  /** Boots at once; a host has one at a time in any case. */
  boot: number;
}

/** How often queues and tables are brought together. */
const reconcileMs = 15_000;

/**
 * Takes ids off the queues and calls the steps, and reconciles queues and tables, until the context's signal fires and
 * what is being worked on has been given back.
 */
export async function work(
  ctx: StepContext,
  queues: Queues,
  concurrency: Partial<Concurrency> = {},
  everyMs = reconcileMs,
): Promise<void> {
  const atOnce: Record<StepName, number> = {
    plan: 1,
    build: concurrency.build ?? 1,
    boot: concurrency.boot ?? 64,
    judge: 2,
    bisect: 2,
    report: 1,
    send: 1,
  };
  const taking = steps.map((step) =>
    queues.take(step.name, atOnce[step.name], async ({ id }) => {
      if (ctx.signal.aborted) return;
      await runStep(ctx, step, id).catch((error: unknown) => {
        if (!ctx.signal.aborted) ctx.log.error({ step: step.name, id, err: error }, 'a step failed outside its row');
      });
    }),
  );
  await keepReconciling(ctx, steps, everyMs);
  await Promise.all(taking.map((one) => one.close()));
}
