import { appendEvent, setHostState } from '@kdelta/store';
import type { FastifyRequest } from 'fastify';
import { actorOf, requireScope } from '../auth.ts';
import type { ServerContext } from '../context.ts';
import { ProblemError } from '../problems.ts';

/** Takes a host out, or brings it back. */
export async function moveHost(
  ctx: ServerContext,
  request: FastifyRequest,
  name: string,
  action: 'take-out' | 'bring-back',
  note: string | null,
): Promise<void> {
  const by = actorOf(await requireScope(ctx, request, 'admin'));
  const moved = await setHostState(ctx.db, name, action === 'take-out' ? 'maintenance' : 'idle', note);
  if (!moved)
    throw new ProblemError(
      409,
      'KD_HOST_STATE',
      `There is no host ${name}, or it is running a boot and needs no bringing back.`,
    );
  await appendEvent(ctx.db, {
    kind: `host.${action}`,
    subject: `host:${moved.id}`,
    actor: by,
    data: { host: name, before: moved.before, note },
  });
}
