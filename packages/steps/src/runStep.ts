import type { StepContext, StepDef } from './context.ts';

/**
 * Runs a step on a row, and again while the row is still due: a wake-up that came while the step held the row found it
 * claimed and was lost.
 */
export async function runStep(ctx: StepContext, step: StepDef, id: number): Promise<void> {
  for (let turn = 0; turn < 10 && !ctx.signal.aborted; turn++) {
    await step.run(ctx, id);
    if ((await step.due(ctx.db, id)).length === 0) return;
  }
}
