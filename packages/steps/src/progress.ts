import { boot, insertEvent, type kernel, notifyProgress, type Progress } from '@kdelta/store';
import { and, eq } from 'drizzle-orm';
import type { StepContext } from './context.ts';

/**
 * Writes a row's progress as it comes, at most every two seconds within a phase, and open pages hear of it; a new phase is
 * also an event. Only while the claim `token` holds. Progress is for people: a write that fails is left out.
 */
export function writeProgress(
  ctx: StepContext,
  table: typeof kernel | typeof boot,
  id: number,
  token: string,
): (progress: Progress, state?: 'booting' | 'running' | 'collecting') => void {
  let phase = '';
  let written = 0;
  let writing = Promise.resolve();
  return (progress, state) => {
    const isNew = progress.phase !== phase;
    const now = ctx.clock.now().getTime();
    if (!isNew && now - written < 2_000) return;
    phase = progress.phase;
    written = now;
    const t = table as typeof boot;
    writing = writing
      .then(async () => {
        await ctx.db
          .update(t)
          .set({ progress, ...(state ? { state } : {}) })
          .where(and(eq(t.id, id), eq(t.claim, token)));
        const kind = table === boot ? 'boot' : 'kernel';
        const subject = `${kind}:${id}`;
        if (isNew) await insertEvent(ctx.db, { kind: `${kind}.progress`, subject, data: { ...progress } });
        else await notifyProgress(ctx.db, subject);
      })
      .catch(() => {});
  };
}
