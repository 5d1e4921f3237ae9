import type { FastifyReply } from 'fastify';

export function html(reply: FastifyReply, text: string): FastifyReply {
  return reply.type('text/html; charset=utf-8').header('cache-control', 'private, no-cache').send(text);
}
