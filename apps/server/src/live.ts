/**
 * Live pages. One LISTEN for the server; each open page names a subject (`pair:3`, `bisects`, `*`) and is told `change`
 * with the event. A boot's events are also its pair's and its bisect's, so a page need not know its boots.
 */
import { findBootOwners, listenEvents, newestEvent } from '@kdelta/store';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { ServerContext } from './context.ts';

interface Listener {
  subject: string;
  reply: FastifyReply;
}

export interface Live {
  /** `since`: the newest event that the page knew when it was drawn; when there are newer ones it is told at once. */
  add(subject: string, reply: FastifyReply, since: number | null): void;
  /** Id of the newest event that was told. */
  last(): number;
  /** Grows with everything that is told, before it is. */
  changes(): number;
  listeners(): number;
}

const HEARTBEAT_MS = 25_000;

export async function startLive(app: FastifyInstance, ctx: ServerContext): Promise<Live> {
  const listeners = new Set<Listener>();
  const owners = new Map<number, { pair_id: number | null; bisect_id: number | null } | null>();

  const subjectsOf = async (subject: string): Promise<string[]> => {
    const [kind, id] = subject.split(':');
    const subjects = ['*', subject, `${kind}s`];
    if (kind !== 'boot' || !/^\d+$/.test(id ?? '')) return subjects;
    const bootId = Number(id);
    let owner = owners.get(bootId);
    if (owner === undefined) {
      owner = await findBootOwners(ctx.db, bootId);
      if (owners.size > 1000) owners.clear();
      owners.set(bootId, owner);
    }
    if (owner?.pair_id) subjects.push(`pair:${owner.pair_id}`);
    if (owner?.bisect_id) subjects.push(`bisect:${owner.bisect_id}`);
    return subjects;
  };

  let last = await newestEvent(ctx.db);
  let changes = 0;
  const tell = (subject: string, text: string, wanted: (subject: string) => boolean) => {
    changes++;
    if (listeners.size === 0) return;
    void subjectsOf(subject)
      .then((subjects) => {
        const chosen = new Set(subjects.filter(wanted));
        for (const listener of listeners) if (chosen.has(listener.subject)) write(listener, text);
      })
      .catch((error) => ctx.log.warn({ err: error }, 'live event lost'));
  };
  const stop = await listenEvents(
    ctx.store,
    (event) => {
      last = event.id;
      const data = { id: event.id, at: event.at, kind: event.kind, subject: event.subject, data: event.data };
      tell(event.subject, `event: change\nid: ${event.id}\ndata: ${JSON.stringify(data)}\n\n`, () => true);
    },
    // Every two seconds from every host: for the pages of the boot itself, not for those that show everything.
    (subject) => {
      const data = { kind: `${subject.split(':', 1)[0]}.progress`, subject };
      tell(subject, `event: change\ndata: ${JSON.stringify(data)}\n\n`, (own) => own.includes(':'));
    },
  );

  const write = (listener: Listener, text: string) => {
    // A page that does not read (a sleeping laptop) is dropped instead of filling memory; it connects again and reloads.
    if (listener.reply.raw.writableLength > 64 * 1024) listener.reply.raw.destroy();
    else listener.reply.raw.write(text);
  };
  const heartbeat = setInterval(() => {
    for (const listener of listeners) write(listener, ': still here\n\n');
  }, HEARTBEAT_MS);
  heartbeat.unref();

  app.addHook('preClose', async () => {
    clearInterval(heartbeat);
    for (const listener of listeners) listener.reply.raw.end();
    await stop();
  });

  return {
    listeners: () => listeners.size,
    last: () => last,
    changes: () => changes,
    add(subject, reply, since) {
      reply.hijack();
      const headers = {
        ...reply.getHeaders(),
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      };
      reply.raw.writeHead(200, headers as never);
      // The id alone makes no event; a browser sends it as Last-Event-ID when it has to connect again.
      reply.raw.write(`retry: 2000\nid: ${last}\n: kdelta\n\n`);
      // Unequal, not smaller: ids are drawn before they are committed, and `last` is the one that was told last.
      if (since !== null && since !== last)
        reply.raw.write(
          `event: change\nid: ${last}\ndata: ${JSON.stringify({ id: last, kind: 'missed', subject })}\n\n`,
        );
      const listener = { subject, reply };
      listeners.add(listener);
      reply.raw.on('close', () => listeners.delete(listener));
    },
  };
}
