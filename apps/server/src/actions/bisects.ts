/** What people may do to bisects, once for the API and once for the forms of the pages. */

import { AskError, type BisectRequest, cancelBisect, pauseBisect, startBisect } from '@kdelta/steps';
import { addBisectBudget, appendEvent } from '@kdelta/store';
import type { FastifyRequest } from 'fastify';
import { actorOf, requireScope } from '../auth.ts';
import type { ServerContext } from '../context.ts';
import { notFound, ProblemError } from '../problems.ts';

export async function askForBisect(
  ctx: ServerContext,
  request: FastifyRequest,
  wanted: BisectRequest,
): Promise<number> {
  const person = await requireScope(ctx, request, 'bisect');
  return translated(() => startBisect(ctx, wanted, actorOf(person)));
}

export type BisectAction = 'pause' | 'resume' | 'cancel';
export const BISECT_ACTIONS = ['pause', 'resume', 'cancel'] as const;

export async function actOnBisect(
  ctx: ServerContext,
  request: FastifyRequest,
  id: number,
  action: BisectAction,
): Promise<void> {
  const by = actorOf(await requireScope(ctx, request, 'bisect'));
  await translated(() =>
    action === 'cancel' ? cancelBisect(ctx, id, by) : pauseBisect(ctx, id, by, action === 'pause'),
  );
}

export async function giveMoreBoots(
  ctx: ServerContext,
  request: FastifyRequest,
  id: number,
  boots: number,
): Promise<number> {
  const by = actorOf(await requireScope(ctx, request, 'bisect'));
  const budget = await addBisectBudget(ctx.db, id, boots);
  if (budget === null)
    throw new ProblemError(409, 'KD_BISECT_STATE', `Bisect ${id} has ended or does not exist; start a new one.`);
  await appendEvent(ctx.db, {
    kind: 'bisect.budget',
    subject: `bisect:${id}`,
    actor: by,
    data: { added: boots, budget },
  });
  await ctx.enqueue([{ step: 'bisect', id }]);
  return budget;
}

/** The steps' own errors with the status that fits them. */
async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AskError)) throw error;
    const detail = error.message.replace(`${error.code}: `, '');
    if (error.code === 'KD_BISECT_UNKNOWN') throw notFound('bisect', '', detail);
    throw new ProblemError(error.code === 'KD_BISECT_STATE' ? 409 : 400, error.code, detail);
  }
}
