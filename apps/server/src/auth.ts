/**
 * Who may what. A token is `kd_…`; the store knows its sha256 only. Programs send it as a bearer token. A browser exchanges
 * it at /sign-in for a cookie that names the token and an end and is signed with the token's hash: revoking the token ends
 * the session, a restart doesn't, and the cookie can't be turned back into the token.
 *
 * Requests that change something with a cookie must come from our own pages: the cookie is SameSite=Strict, the Origin
 * (or Sec-Fetch-Site) must be ours, and the form carries a token that other sites can't read.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { appendEvent, findToken, hashToken, type TokenRow, touchToken } from '@kdelta/store';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ServerContext } from './context.ts';
import { ProblemError } from './problems.ts';

export const SCOPES = ['bisect', 'report', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

export interface Person {
  tokenId: number;
  name: string;
  scopes: string[];
  /** For hidden form fields; null for bearer tokens. */
  csrf: string | null;
}

declare module 'fastify' {
  interface FastifyRequest {
    person: Person | null;
    /** The newest event when the request came. */
    lastEvent: number;
  }
}

export const COOKIE = 'kdelta_session';
const SESSION_MS = 12 * 3600_000;

const sign = (token: TokenRow, text: string) => createHmac('sha256', token.hash).update(text).digest('base64url');
const equal = (a: string, b: string) => {
  const x = Buffer.from(a);
  const y = Buffer.from(b);
  return x.length === y.length && timingSafeEqual(x, y);
};

/** The cookie's value for a token that was just shown to be right. */
export function sessionCookie(token: TokenRow, now: Date): { value: string; maxAgeSeconds: number } {
  const until = now.getTime() + SESSION_MS;
  return { value: `${token.id}.${until}.${sign(token, `session.${until}`)}`, maxAgeSeconds: SESSION_MS / 1000 };
}

/** Finds out who asks, before anything else runs; refuses wrong and expired tokens with 401 KD_TOKEN_… and logs it. */
export async function identify(ctx: ServerContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  request.person = null;
  const header = request.headers.authorization;
  if (header !== undefined) {
    const text = /^Bearer (kd_[\w-]{20,100})$/i.exec(header)?.[1];
    if (!text) throw await refuse(ctx, request, 'KD_TOKEN_MALFORMED', 'Send "Authorization: Bearer kd_…".');
    request.person = await personOf(ctx, request, await findToken(ctx.db, { hash: hashToken(text) }), null);
    return;
  }
  const cookie = request.cookies?.[COOKIE];
  if (!cookie) return;
  const [id, until, signature] = cookie.split('.');
  const token = /^\d{1,9}$/.test(id ?? '') ? await findToken(ctx.db, { id: Number(id) }) : null;
  const valid =
    token &&
    until &&
    signature &&
    Number(until) > ctx.now().getTime() &&
    equal(signature, sign(token, `session.${until}`));
  if (!valid || token.revoked_at || (token.expires_at && token.expires_at < ctx.now())) {
    // An old cookie is no attack: the page is shown as to anyone, and the cookie goes.
    reply.clearCookie(COOKIE, { path: '/' });
    return;
  }
  request.person = await personOf(ctx, request, token, sign(token, `csrf.${until}`));
}

async function personOf(
  ctx: ServerContext,
  request: FastifyRequest,
  token: TokenRow | null,
  csrf: string | null,
): Promise<Person> {
  if (!token)
    throw await refuse(ctx, request, 'KD_TOKEN_UNKNOWN', 'This token is not known; make one with `kdelta token make`.');
  if (token.revoked_at) throw await refuse(ctx, request, 'KD_TOKEN_REVOKED', `The token "${token.name}" was revoked.`);
  if (token.expires_at && token.expires_at < ctx.now())
    throw await refuse(
      ctx,
      request,
      'KD_TOKEN_EXPIRED',
      `The token "${token.name}" expired on ${token.expires_at.toISOString()}.`,
    );
  await touchToken(ctx.db, token.id);
  return { tokenId: token.id, name: token.name, scopes: token.scopes, csrf };
}

async function refuse(
  ctx: ServerContext,
  request: FastifyRequest,
  code: string,
  detail: string,
): Promise<ProblemError> {
  await noteRefusal(ctx, request, code);
  return new ProblemError(401, code, detail, { 'www-authenticate': 'Bearer realm="kdelta"' });
}

/** A refused attempt, in the log and the audit trail; at most one row a second, so that a flood fills no table. */
let lastNoted = 0;
export async function noteRefusal(ctx: ServerContext, request: FastifyRequest, code: string): Promise<void> {
  const who = request.person?.name ?? null;
  ctx.log.warn({ code, method: request.method, url: request.url.slice(0, 200), ip: request.ip, token: who }, 'refused');
  const now = ctx.now().getTime();
  if (now - lastNoted < 1000) return;
  lastNoted = now;
  const path = request.url.split('?', 1)[0]!.slice(0, 200);
  await appendEvent(ctx.db, {
    kind: 'access.refused',
    subject: 'server',
    actor: who ? `token:${who}` : 'nobody',
    data: { code, method: request.method, path, ip: request.ip },
  });
}

/** Lets a reader in: always when reading is open, else with any token. Pages send a browser to the sign-in page. */
export function mayRead(ctx: ServerContext, request: FastifyRequest): boolean {
  return ctx.config.reading === 'open' || request.person !== null;
}

/** Throws 401 or 403 unless the request carries a token with this scope (or `admin`), from our own page if by cookie. */
export async function requireScope(ctx: ServerContext, request: FastifyRequest, scope: Scope): Promise<Person> {
  const person = request.person;
  if (!person) throw await refuse(ctx, request, 'KD_TOKEN_NEEDED', `This needs a token with the scope "${scope}".`);
  if (!person.scopes.includes(scope) && !person.scopes.includes('admin')) {
    await noteRefusal(ctx, request, 'KD_SCOPE_MISSING');
    throw new ProblemError(
      403,
      'KD_SCOPE_MISSING',
      `The token "${person.name}" has the scopes ${person.scopes.join(', ') || '(none)'}; this needs "${scope}".`,
    );
  }
  if (person.csrf) await requireOwnPage(ctx, request, person.csrf);
  return person;
}

async function requireOwnPage(ctx: ServerContext, request: FastifyRequest, csrf: string): Promise<void> {
  const body = request.body as { _csrf?: unknown } | undefined;
  const given = typeof body?._csrf === 'string' ? body._csrf : String(request.headers['x-kdelta-csrf'] ?? '');
  const site = request.headers['sec-fetch-site'];
  const origin = request.headers.origin;
  const ownOrigin = origin === undefined || hostOf(origin) === request.headers.host;
  if (equal(given, csrf) && ownOrigin && (site === undefined || site === 'same-origin')) return;
  await noteRefusal(ctx, request, 'KD_CSRF');
  throw new ProblemError(403, 'KD_CSRF', 'This form did not come from this page; load the page again and repeat.');
}

function hostOf(origin: string): string | null {
  try {
    return new URL(origin).host;
  } catch {
    return null;
  }
}

export const actorOf = (person: Person | null) => (person ? `token:${person.name}` : 'anyone');
