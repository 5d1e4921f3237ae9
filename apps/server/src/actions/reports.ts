import { approveReport, DecideError, rejectReport } from '@kdelta/steps';
import { appendEvent, setReportRecipients } from '@kdelta/store';
import type { FastifyRequest } from 'fastify';
import { actorOf, requireScope } from '../auth.ts';
import type { ServerContext } from '../context.ts';
import { badRequest, ProblemError } from '../problems.ts';

export async function approve(ctx: ServerContext, request: FastifyRequest, id: number): Promise<void> {
  const by = actorOf(await requireScope(ctx, request, 'report'));
  await translated(() => approveReport(decideContext(ctx), id, by));
}

export async function reject(ctx: ServerContext, request: FastifyRequest, id: number, reason: string): Promise<void> {
  const by = actorOf(await requireScope(ctx, request, 'report'));
  await translated(() => rejectReport(decideContext(ctx), id, by, reason));
}

const ADDRESS = /^[^<>@\s,"]+@[^<>@\s,"]+$|^[^<>\r\n]*<[^<>@\s,"]+@[^<>@\s,"]+>$/;

/** Replaces a draft's recipients; the tree's allow-list is checked again when the mail goes out. */
export async function setRecipients(
  ctx: ServerContext,
  request: FastifyRequest,
  id: number,
  to: string[],
  cc: string[],
): Promise<void> {
  const by = actorOf(await requireScope(ctx, request, 'report'));
  const wrong = [...to, ...cc].find((address) => !ADDRESS.test(address));
  if (wrong !== undefined) throw badRequest('KD_ADDRESS', `"${wrong.slice(0, 100)}" is no mail address.`);
  if (!(await setReportRecipients(ctx.db, id, to, cc)))
    throw new ProblemError(409, 'KD_REPORT_STATE', `Report ${id} is no draft (any more), or does not exist.`);
  await appendEvent(ctx.db, {
    kind: 'report.recipients',
    subject: `report:${id}`,
    actor: by,
    data: { to: to.join(', '), cc: cc.join(', ') },
  });
}

/** `a@b.org, C D <c@d.org>` as addresses; commas within quotes are not for us to guess. */
export const addressesOf = (text: string) =>
  text
    .split(/[,\n]/)
    .map((address) => address.trim())
    .filter(Boolean);

function decideContext(ctx: ServerContext): Parameters<typeof approveReport>[0] {
  return {
    store: ctx.store,
    db: ctx.store.db,
    artifacts: ctx.artifacts,
    config: ctx.config,
    clock: { now: ctx.now, sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) },
    enqueue: ctx.enqueue,
  };
}

async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DecideError)) throw error;
    throw new ProblemError(
      error.code === 'KD_REPORT_UNKNOWN' ? 404 : 409,
      error.code,
      error.message.replace(`${error.code}: `, ''),
    );
  }
}
