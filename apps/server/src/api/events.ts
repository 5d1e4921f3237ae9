import { listEvents } from '@kdelta/store';
import { z } from 'zod';
import type { App, ServerContext } from '../context.ts';
import type { Live } from '../live.ts';
import { ProblemError } from '../problems.ts';
import { answers, problems } from './answers.ts';
import { Cursor, Event, Limit, listOf, pageOf } from './schemas.ts';

const Subject = z
  .string()
  .max(100)
  .regex(/^(\*|[a-z]+|[a-z]+:[\w.-]+)$/);
const MOST_LISTENERS = 2000;

export function eventRoutes(app: App, ctx: ServerContext, live: Live): void {
  app.get(
    '/api/v1/events',
    {
      schema: {
        operationId: 'listEvents',
        tags: ['events'],
        summary: 'The audit trail: who did what, newest first',
        querystring: z.object({
          subject: Subject.optional().describe('`pair:3`, `report:1`, `tree:2` …'),
          kind: z.string().max(100).optional(),
          before: Cursor,
          limit: Limit,
        }),
        response: answers(listOf(Event)),
      },
    },
    async (request) => pageOf(await listEvents(ctx.db, request.query), request.query.limit),
  );

  app.get(
    '/api/v1/events/stream',
    {
      schema: {
        operationId: 'streamEvents',
        tags: ['events'],
        summary: 'Events as they happen (server-sent events)',
        description:
          'Each is an SSE of type `change` whose data is the event. A boot’s events reach its pair and bisect too.',
        querystring: z.object({
          subject: Subject.default('*').describe('`*`, `pairs`, `pair:3`, `boot:12` …'),
          since: z.coerce
            .number()
            .int()
            .min(0)
            .max(Number.MAX_SAFE_INTEGER)
            .optional()
            .describe('Newest event that is known: when there are newer ones, a `missed` comes at once'),
        }),
        response: {
          200: {
            description: 'Events',
            content: { 'text/event-stream': { schema: z.any().meta({ type: 'string' }) } },
          },
          ...problems,
        },
      },
    },
    async (request, reply) => {
      if (live.listeners() >= MOST_LISTENERS)
        throw new ProblemError(503, 'KD_TOO_MANY_LISTENERS', `${MOST_LISTENERS} pages are open already; reload later.`);
      // What a browser that connects again has heard last counts more than when its page was drawn.
      const heard = Number(request.headers['last-event-id'] ?? Number.NaN);
      const since = Number.isSafeInteger(heard) && heard >= 0 ? heard : (request.query.since ?? null);
      live.add(request.query.subject, reply, since);
    },
  );
}
