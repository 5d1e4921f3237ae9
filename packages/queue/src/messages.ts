import { z } from 'zod';

/** The arrows of the one straight line, in its order; each has a queue of its own. */
export const stepNames = ['plan', 'build', 'boot', 'judge', 'bisect', 'report', 'send'] as const;
export type StepName = (typeof stepNames)[number];

/** What a queue carries: the id of a row that asks for work, and how often it was taken back. The rest is in Postgres. */
export const messageSchema = z.strictObject({ id: z.int().positive(), attempt: z.int().nonnegative() });
export type Message = z.output<typeof messageSchema>;

/**
 * BullMQ ignores an `add` whose id is still known, which keeps a row from being queued twice; with the attempt in it, a
 * row that was taken back from a dead worker can be queued while the dead worker's job still lies about.
 */
export function jobId(message: Message): string {
  return `${message.id}-${message.attempt}`;
}
