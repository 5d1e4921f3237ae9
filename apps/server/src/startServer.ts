import { randomUUID } from 'node:crypto';
import cookie from '@fastify/cookie';
import formbody from '@fastify/formbody';
import helmet from '@fastify/helmet';
import rateLimit from '@fastify/rate-limit';
import { cacheDir, homeDir, stateDir } from '@kdelta/home';
import type { KdeltaConfig } from '@kdelta/jobs';
import { buildRegistry } from '@kdelta/matrix';
import { loadPrograms, type Programs, programRoots } from '@kdelta/programs';
import type { ArtifactStore, Store } from '@kdelta/store';
import fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyRequest, LogController } from 'fastify';
import { validatorCompiler } from 'fastify-type-provider-zod';
import { apiRoutes } from './api/routes.ts';
import { type Assets, loadAssets, serveAssets } from './assets.ts';
import { identify, mayRead } from './auth.ts';
import { compressAnswers } from './compress.ts';
import type { App, ServerContext } from './context.ts';
import { startLive } from './live.ts';
import { metricsRoute } from './metrics.ts';
import { openapi } from './openapi.ts';
import { renderProblem } from './pages/problem/page.tsx';
import { pageRoutes } from './pages/routes.ts';
import { ProblemError, sendProblem, toProblem, wantsJson } from './problems.ts';
import { urls } from './urls.ts';

export interface ServerOptions {
  config: KdeltaConfig;
  store: Store;
  artifacts: ArtifactStore;
  /** Wakes steps; the server works without it, a minute slower. */
  enqueue?: ServerContext['enqueue'];
  log: FastifyBaseLogger;
  programs?: Programs;
  dirs?: ServerContext['dirs'];
  now?: () => Date;
  assets?: Assets;
  /** Requests per minute and client; false: none (benchmarks). */
  limits?: { reads: number; writes: number } | false;
}

const LIMITS = { reads: 3000, writes: 60 };

/** Listens on `config.listen` and serves API, pages, downloads and live events; `close()` ends it. Throws EADDRINUSE. */
export async function startServer(options: ServerOptions): Promise<FastifyInstance> {
  const app = await buildServer(options);
  try {
    await app.listen(options.config.listen);
  } catch (error) {
    await app.close();
    throw error;
  }
  return app;
}

/** The same without a socket, for `inject()`. */
export async function buildServer(options: ServerOptions): Promise<FastifyInstance> {
  const programs = options.programs ?? (await loadPrograms(programRoots(process.env)));
  const ctx: ServerContext = {
    config: options.config,
    store: options.store,
    db: options.store.pool,
    enqueue: options.enqueue ?? (async () => {}),
    artifacts: options.artifacts,
    programs,
    metrics: buildRegistry(programs.values()),
    dirs: options.dirs ?? { home: homeDir(), state: stateDir(), cache: cacheDir() },
    assets: options.assets ?? (await loadAssets()),
    log: options.log,
    now: options.now ?? (() => new Date()),
    lastEvent: () => 0,
    changes: () => 0,
  };
  const app = fastify({
    loggerInstance: options.log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    bodyLimit: 256 * 1024,
    routerOptions: { maxParamLength: 300 },
    forceCloseConnections: true,
  });
  app.setValidatorCompiler(validatorCompiler);
  // Handlers are typed by the schemas; checking every answer again at run time would cost more than making it.
  app.setSerializerCompiler(() => (value) => JSON.stringify(value));
  app.decorateRequest('person', null);
  app.decorateRequest('lastEvent', 0);
  app.setErrorHandler((error, request, reply) => fail(ctx, error as Error, request, reply));
  app.setNotFoundHandler((request) => {
    const path = request.url.split('?', 1)[0]!.slice(0, 200);
    throw new ProblemError(404, 'KD_NOT_FOUND', `There is nothing at ${path}.`);
  });

  await app.register(cookie);
  await app.register(formbody, { bodyLimit: 256 * 1024 });
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'"],
        connectSrc: ["'self'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
      },
    },
    // Only a server that is reached by https may say so for ever.
    strictTransportSecurity: options.config.url.startsWith('https:') ? { maxAge: 31_536_000 } : false,
    referrerPolicy: { policy: 'same-origin' },
    crossOriginEmbedderPolicy: false,
  });
  const limits = options.limits ?? LIMITS;
  if (limits)
    await app.register(rateLimit, {
      timeWindow: '1 minute',
      max: (request: FastifyRequest) => (isRead(request) ? limits.reads : limits.writes),
      keyGenerator: (request) => `${isRead(request) ? 'r' : 'w'} ${request.ip}`,
      allowList: (request) => request.url.startsWith('/assets/'),
      errorResponseBuilder: (_request, context) =>
        new ProblemError(
          429,
          'KD_TOO_MANY_REQUESTS',
          `At most ${context.max} such requests a minute; try again in ${context.after}.`,
        ),
    });
  compressAnswers(app);
  app.addHook('onRequest', (request, reply) => {
    request.lastEvent = ctx.lastEvent();
    return identify(ctx, request, reply);
  });
  app.addHook('onRequest', async (request, reply) => {
    const path = request.url.split('?', 1)[0]!;
    if (mayRead(ctx, request) || /^\/(assets\/|sign-in$|health$)/.test(path)) return;
    if (!wantsJson(request)) return reply.redirect(urls.signIn(request.url), 303);
    throw new ProblemError(401, 'KD_TOKEN_NEEDED', 'Reading needs a token here: send "Authorization: Bearer kd_…".', {
      'www-authenticate': 'Bearer realm="kdelta"',
    });
  });
  await openapi(app);
  serveAssets(app, ctx.assets);
  const live = await startLive(app, ctx);
  ctx.lastEvent = live.last;
  ctx.changes = live.changes;
  await app.register(async (scope) => {
    metricsRoute(scope as App, ctx, live);
    apiRoutes(scope as App, ctx, live);
    pageRoutes(scope as App, ctx);
  });
  await app.ready();
  return app;
}

const isRead = (request: FastifyRequest) => request.method === 'GET' || request.method === 'HEAD';

function fail(ctx: ServerContext, error: Error, request: FastifyRequest, reply: import('fastify').FastifyReply) {
  const problem = toProblem(error);
  if (problem.status >= 500)
    ctx.log.error({ err: error, reqId: request.id, url: request.url.slice(0, 300) }, 'request failed');
  if (error instanceof ProblemError) for (const [name, text] of Object.entries(error.headers)) reply.header(name, text);
  reply.removeHeader('etag').removeHeader('content-disposition');
  if (wantsJson(request)) return sendProblem(reply, problem);
  const frame = { ctx, person: request.person ?? null, path: request.url, now: ctx.now() };
  return reply.code(problem.status).type('text/html; charset=utf-8').send(renderProblem(frame, problem));
}
