import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { z } from 'zod';

/** RFC 9457 problem document; `code` is stable. */
export const Problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    detail: z.string(),
    code: z.string(),
    errors: z.array(z.object({ where: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: 'Problem', description: 'What went wrong and what would be right (RFC 9457).' });
export type Problem = z.infer<typeof Problem>;

const TITLES: Record<number, string> = {
  400: 'Bad request',
  401: 'Token needed',
  403: 'Not allowed',
  404: 'Not found',
  405: 'Method not allowed',
  409: 'Conflict',
  413: 'Too large',
  415: 'Unsupported media type',
  416: 'Range not satisfiable',
  429: 'Too many requests',
  500: 'Internal error',
  503: 'Not available',
};

/** An answer other than 2xx, with a stable code and what to do about it. */
export class ProblemError extends Error {
  constructor(
    readonly statusCode: number,
    readonly code: string,
    detail: string,
    readonly headers: Record<string, string> = {},
  ) {
    super(detail);
  }
}

export const notFound = (what: string, id: string | number, hint = '') =>
  new ProblemError(404, 'KD_NOT_FOUND', `There is no ${what} ${id}.${hint ? ` ${hint}` : ''}`);
export const badRequest = (code: string, detail: string) => new ProblemError(400, code, detail);

/** The problem document of any error that a handler or fastify itself throws; what is ours to fix says no more than that. */
export function toProblem(error: FastifyError | ProblemError | Error): Problem {
  const make = (status: number, code: string, detail: string, errors?: Problem['errors']): Problem => ({
    type: `urn:kdelta:problem:${code}`,
    title: TITLES[status] ?? 'Error',
    status,
    detail,
    code,
    ...(errors ? { errors } : {}),
  });
  if (error instanceof ProblemError) return make(error.statusCode, error.code, error.message);
  if (hasZodFastifySchemaValidationErrors(error)) {
    const errors = error.validation.slice(0, 20).map((issue) => ({
      where: `${error.validationContext ?? 'request'}${issue.instancePath.replaceAll('/', '.')}`,
      message: issue.message ?? 'is wrong',
    }));
    const detail = errors.map((e) => `${e.where}: ${e.message}`).join('; ');
    return make(400, 'KD_REQUEST_INVALID', detail, errors);
  }
  const status = 'statusCode' in error && error.statusCode ? error.statusCode : 500;
  if (status < 500) return make(status, codeOf(error, status), error.message);
  if (isAway(error)) return make(503, 'KD_DATABASE_AWAY', 'The database does not answer; try again in a minute.');
  return make(500, 'KD_BUG', 'kdelta made a mistake here; the server log has it under this request id.');
}

function codeOf(error: Error, status: number): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (status === 413) return 'KD_BODY_TOO_LARGE';
  if (status === 415) return 'KD_MEDIA_TYPE';
  if (status === 429) return 'KD_TOO_MANY_REQUESTS';
  return code.startsWith('KD_') ? code : 'KD_REQUEST_INVALID';
}

function isAway(error: Error): boolean {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return /^(ECONN|ENOENT|EPIPE|57P0|08)/.test(code) || /Connection terminated|timeout exceeded/.test(error.message);
}

/** True for requests that want data, not a page. */
export function wantsJson(request: FastifyRequest): boolean {
  const path = request.url.split('?', 1)[0]!;
  return /^\/(api|matrix|files|metrics)\b/.test(path) || !(request.headers.accept ?? '').includes('text/html');
}

export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  return reply
    .code(problem.status)
    .type('application/problem+json; charset=utf-8')
    .serializer((value: unknown) => JSON.stringify(value))
    .send(problem);
}
