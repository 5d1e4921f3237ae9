import { z } from 'zod';
import { actOnBisect, askForBisect, BISECT_ACTIONS, giveMoreBoots } from '../actions/bisects.ts';
import { moveHost } from '../actions/hosts.ts';
import { addressesOf, approve, reject, setRecipients } from '../actions/reports.ts';
import { IdParams, Name } from '../api/schemas.ts';
import type { App, ServerContext } from '../context.ts';
import { urls } from '../urls.ts';

const Csrf = { _csrf: z.string().max(200).default('') };
const hide = { hide: true };

/** The forms of the pages: the same actions as the API's, answered with the way back (303). */
export function formRoutes(app: App, ctx: ServerContext): void {
  app.post(
    '/bisects',
    {
      schema: {
        ...hide,
        body: z.object({
          ...Csrf,
          tree: Name,
          good: z.string().trim().min(7).max(100),
          bad: z.string().trim().min(7).max(100),
          testcase: Name,
          metric: z.string().trim().min(1).max(300),
          budget: z.coerce.number().int().min(2).max(1000),
          certainty: z.coerce.number().min(0.5).max(0.999),
        }),
      },
    },
    async (request, reply) => {
      const { _csrf, ...wanted } = request.body;
      return reply.redirect(urls.bisect(await askForBisect(ctx, request, wanted)), 303);
    },
  );
  app.post(
    '/bisects/:id/:action',
    { schema: { ...hide, params: IdParams.extend({ action: z.enum(BISECT_ACTIONS) }) } },
    async (request, reply) => {
      await actOnBisect(ctx, request, request.params.id, request.params.action);
      return reply.redirect(urls.bisect(request.params.id), 303);
    },
  );
  app.post(
    '/bisects/:id/budget',
    {
      schema: {
        ...hide,
        params: IdParams,
        body: z.object({ ...Csrf, boots: z.coerce.number().int().min(1).max(500) }),
      },
    },
    async (request, reply) => {
      await giveMoreBoots(ctx, request, request.params.id, request.body.boots);
      return reply.redirect(urls.bisect(request.params.id), 303);
    },
  );
  app.post('/r/:id/approve', { schema: { ...hide, params: IdParams } }, async (request, reply) => {
    await approve(ctx, request, request.params.id);
    return reply.redirect(urls.report(request.params.id), 303);
  });
  app.post(
    '/r/:id/reject',
    { schema: { ...hide, params: IdParams, body: z.object({ ...Csrf, reason: z.string().trim().min(1).max(500) }) } },
    async (request, reply) => {
      await reject(ctx, request, request.params.id, request.body.reason);
      return reply.redirect(urls.report(request.params.id), 303);
    },
  );
  const Text = z.string().max(4000).default('');
  app.post(
    '/r/:id/recipients',
    { schema: { ...hide, params: IdParams, body: z.object({ ...Csrf, to: Text, cc: Text }) } },
    async (request, reply) => {
      const { to, cc } = request.body;
      await setRecipients(ctx, request, request.params.id, addressesOf(to), addressesOf(cc));
      return reply.redirect(urls.report(request.params.id), 303);
    },
  );
  app.post(
    '/hosts/:name/:action',
    {
      schema: {
        ...hide,
        params: z.object({ name: Name, action: z.enum(['take-out', 'bring-back']) }),
        body: z.object({ ...Csrf, note: z.string().trim().max(300).optional() }),
      },
    },
    async (request, reply) => {
      await moveHost(ctx, request, request.params.name, request.params.action, request.body.note || null);
      return reply.redirect(urls.host(request.params.name), 303);
    },
  );
}
