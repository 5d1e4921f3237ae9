import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ServerContext } from '../context.ts';

export function html(reply: FastifyReply, text: string): FastifyReply {
  return reply.type('text/html; charset=utf-8').header('cache-control', 'private, no-cache').send(text);
}

const drawing = new WeakMap<ServerContext, Map<string, Promise<string>>>();

/**
 * Draws a page that many have open. An event makes all of them fetch it in the same moment: who asks while it is being drawn
 * gets the same text. Nothing is kept after that, and whoever has heard of a newer event never gets a drawing that began
 * before it. Pages of people who are signed in carry their own tokens and are drawn for each.
 */
export async function shared(
  ctx: ServerContext,
  request: FastifyRequest,
  draw: () => Promise<string>,
): Promise<string> {
  if (request.person) return draw();
  let pages = drawing.get(ctx);
  if (!pages) {
    pages = new Map();
    drawing.set(ctx, pages);
  }
  const key = `${ctx.changes()} ${request.url}`;
  let page = pages.get(key);
  if (!page) {
    page = draw().finally(() => pages.delete(key));
    pages.set(key, page);
  }
  return page;
}
