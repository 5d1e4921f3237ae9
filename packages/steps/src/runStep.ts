import { addStepTime } from '@kdelta/store';
import type { StepContext, StepDef } from './context.ts';

/**
 * Runs a step on a row, and again while the row is still due: a wake-up that came while the step held the row found it
 * claimed and was lost. What each run took is counted for /metrics.
 */
export async function runStep(ctx: StepContext, step: StepDef, id: number): Promise<void> {
  for (let turn = 0; turn < 10 && !ctx.signal.aborted; turn++) {
    await timed(ctx, step, id);
    if ((await step.due(ctx.db, id)).length === 0) return;
  }
}

async function timed(ctx: StepContext, step: StepDef, id: number): Promise<void> {
  const started = performance.now();
  let failed = true;
  try {
    await step.run(ctx, id);
    failed = false;
  } finally {
    const seconds = (performance.now() - started) / 1000;
    await addStepTime(ctx.store.pool, { step: step.name, seconds, failed }).catch((error: unknown) =>
      ctx.log.warn({ err: error, step: step.name }, 'the time of a step was not counted'),
    );
  }
}
