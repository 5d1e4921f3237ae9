import { appendEvent, findToken, hashToken } from '@kdelta/store';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { COOKIE, noteRefusal, sessionCookie } from '../../auth.ts';
import type { App, ServerContext } from '../../context.ts';
import type { Frame } from '../../parts/layout.tsx';
import { ProblemError } from '../../problems.ts';
import { html } from '../html.ts';
import { renderSignIn } from './page.tsx';

/** Only a path of this server may follow: `//evil.example` and `/\evil.example` are addresses elsewhere. */
const ownPath = (next: string | undefined) => (next && /^\/(?![/\\])[^\r\n]*$/.test(next) ? next : '/');

export function signInRoutes(app: App, ctx: ServerContext, frame: (request: FastifyRequest) => Frame): void {
  const hide = { hide: true };
  app.get(
    '/sign-in',
    { schema: { ...hide, querystring: z.object({ next: z.string().max(2000).optional() }) } },
    async (request, reply) => html(reply, renderSignIn(frame(request), { next: ownPath(request.query.next) })),
  );

  app.post(
    '/sign-in',
    {
      schema: { ...hide, body: z.object({ token: z.string().max(200), next: z.string().max(2000).optional() }) },
      config: { rateLimit: { max: 10, timeWindow: '1 minute' } },
    },
    async (request, reply) => {
      const site = request.headers['sec-fetch-site'];
      if (site !== undefined && site !== 'same-origin' && site !== 'none')
        throw new ProblemError(403, 'KD_CSRF', 'Sign in from the sign-in page itself.');
      const next = ownPath(request.body.next);
      const token = await findToken(ctx.db, { hash: hashToken(request.body.token.trim()) });
      const wrong = !token
        ? 'This token is not known.'
        : token.revoked_at
          ? 'This token was revoked.'
          : token.expires_at && token.expires_at < ctx.now()
            ? 'This token has expired.'
            : null;
      if (!token || wrong) {
        await noteRefusal(ctx, request, 'KD_SIGN_IN');
        return html(reply.code(401), renderSignIn(frame(request), { next, wrong: wrong ?? '' }));
      }
      const { value, maxAgeSeconds } = sessionCookie(token, ctx.now());
      await appendEvent(ctx.db, { kind: 'access.sign-in', subject: 'server', actor: `token:${token.name}` });
      return reply
        .setCookie(COOKIE, value, {
          path: '/',
          httpOnly: true,
          sameSite: 'strict',
          secure: ctx.config.url.startsWith('https:'),
          maxAge: maxAgeSeconds,
        })
        .redirect(next, 303);
    },
  );

  app.post('/sign-out', { schema: hide }, async (_request, reply) =>
    reply.clearCookie(COOKIE, { path: '/' }).redirect('/', 303),
  );
}
