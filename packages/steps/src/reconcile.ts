import { packFullBlocks } from '@kdelta/store';
import type { StepContext, StepDef } from './context.ts';

/**
 * Brings queues and tables together: takes back what dead workers held, and queues what should be queued and isn't (a
 * message that is queued already is ignored). Returns how many rows were taken back and offered.
 */
export async function reconcile(ctx: StepContext, steps: StepDef[]): Promise<{ takenBack: number; offered: number }> {
  let takenBack = 0;
  let offered = 0;
  for (const step of steps) {
    takenBack += await step.takeBack(ctx.db);
    const rows = await step.due(ctx.db);
    offered += rows.length;
    await ctx.enqueue(rows.map((row) => ({ step: step.name, ...row })));
  }
  if (takenBack > 0) ctx.log.warn({ takenBack }, 'took rows back from workers that are gone');
  return { takenBack, offered };
}

/**
 * Reconciles at once and then every `everyMs` until the context's signal fires, and packs the blocks that histories are read
 * from. A failure is logged and tried again at the next turn.
 */
export async function keepReconciling(ctx: StepContext, steps: StepDef[], everyMs = 15_000): Promise<void> {
  while (!ctx.signal.aborted) {
    await reconcile(ctx, steps).catch((error: unknown) => {
      if (!ctx.signal.aborted) ctx.log.error({ err: error }, 'reconciling failed');
    });
    await packFullBlocks(ctx.store).catch((error: unknown) => {
      if (!ctx.signal.aborted) ctx.log.error({ err: error }, 'packing blocks failed');
    });
    await ctx.clock.sleep(everyMs, ctx.signal);
  }
}
