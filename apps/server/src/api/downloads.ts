import { type Matrix, writeCsv, writeMatrixJson } from '@kdelta/matrix';
import { findCommits, findMatrixBoots, listArtifacts, loadJudgement, loadMatrix, loadPair } from '@kdelta/store';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { App, ServerContext } from '../context.ts';
import { badRequest, notFound, ProblemError } from '../problems.ts';
import { sendArtifact, sendBytes } from '../send.ts';
import { problems } from './answers.ts';
import { Id, IdParams, Name } from './schemas.ts';

const Lkp = z
  .enum(['0', '1'])
  .optional()
  .describe('1: write 0 for a missing value, for readers of LKP’s files that know no null');
const bytesOf = (type: string, description: string) => ({
  200: { description, content: { [type]: { schema: z.any().meta({ type: 'string' }) } } },
  ...problems,
});

/** Matrices, raw archives and logs, by addresses that stay. */
export function downloadRoutes(app: App, ctx: ServerContext): void {
  app.get(
    '/matrix/:tree/:sha/:file',
    {
      schema: {
        operationId: 'getMatrix',
        tags: ['downloads'],
        summary: 'The matrix of a commit at a testcase: metric → one number per boot',
        description:
          '`file` is `<testcase>.json` or `<testcase>.csv`; the testcase is its name (the newest of that name) or its key.',
        params: z.object({ tree: Name, sha: z.string().regex(/^[0-9a-f]{7,40}$/), file: Name }),
        querystring: z.object({ lkp: Lkp, kernel: Id.optional(), tbox_group: Name.optional() }),
        response: bytesOf('application/json', 'The matrix'),
      },
    },
    async (request, reply) => {
      const { tree, file } = request.params;
      const { testcase, ending } = splitFile(file);
      const sha = await fullSha(ctx, request.params.sha);
      const found = (await findMatrixBoots(ctx.db, { tree, sha, testcase })).filter(
        (row) =>
          (!request.query.kernel || row.kernel_id === request.query.kernel) &&
          (!request.query.tbox_group || row.tbox_group === request.query.tbox_group),
      );
      const newest = found.filter((row) => row.testcase_id === found[0]!.testcase_id);
      if (!newest[0]) throw notFound('finished boot of', `${sha.slice(0, 12)} at ${testcase} in ${tree}`);
      if (newest.length > 1)
        throw new ProblemError(
          409,
          'KD_MATRIX_AMBIGUOUS',
          `Several kernels were built of this commit; add ?kernel= with one of ${newest.map((row) => row.kernel_id).join(', ')}.`,
        );
      return sendMatrix(ctx, request, reply, newest[0].boot_ids, ending, `${sha.slice(0, 12)}-${testcase}`);
    },
  );

  app.get(
    '/pairs/:id/:file',
    {
      schema: {
        operationId: 'getPairMatrix',
        tags: ['downloads'],
        summary: 'The matrix of one side of a pair, with the boots that were judged',
        params: z.object({ id: Id, file: z.string().regex(/^(base|head)\.matrix\.(json|csv)$/) }),
        querystring: z.object({ lkp: Lkp }),
        response: bytesOf('application/json', 'The matrix'),
      },
    },
    async (request, reply) => {
      const pair = await loadPair(ctx.db, request.params.id);
      if (!pair) throw notFound('pair', request.params.id);
      const judgement = pair.judgement_id === null ? null : await loadJudgement(ctx.db, pair.judgement_id);
      if (!judgement) throw notFound('judgement of pair', pair.id, 'Its boots are not all done.');
      const [side, , ending] = request.params.file.split('.') as ['base' | 'head', string, 'json' | 'csv'];
      const boots = side === 'base' ? judgement.base_boots : judgement.head_boots;
      return sendMatrix(ctx, request, reply, boots, ending, `pair-${pair.id}-${side}`);
    },
  );

  app.get(
    '/api/v1/boots/:id/matrix.json',
    {
      schema: {
        operationId: 'getBootMatrix',
        tags: ['downloads'],
        summary: 'The matrix of one boot',
        params: IdParams,
        querystring: z.object({ lkp: Lkp }),
        response: bytesOf('application/json', 'The matrix'),
      },
    },
    async (request, reply) => sendMatrix(ctx, request, reply, [request.params.id], 'json', `boot-${request.params.id}`),
  );

  app.get(
    '/files/:kind/:id/:name',
    {
      schema: {
        operationId: 'getFile',
        tags: ['downloads'],
        summary: 'A file kept for a boot, kernel or report: raw archive, console log, build log, config …',
        params: z.object({ kind: z.enum(['boots', 'kernels', 'reports']), id: Id, name: Name }),
        response: bytesOf('application/octet-stream', 'The file'),
      },
    },
    async (request, reply) => {
      const { kind, id, name } = request.params;
      const owner = kind === 'boots' ? { bootId: id } : kind === 'kernels' ? { kernelId: id } : { reportId: id };
      // Names are looked up, never used as paths.
      const file = (await listArtifacts(ctx.db, owner)).findLast((row) => row.name === name);
      if (!file) throw notFound('file', `${name} of ${kind.slice(0, -1)} ${id}`);
      const type = typeOf(name);
      return sendArtifact(ctx.artifacts, request, reply, file, {
        type,
        filename: type.startsWith('text/') ? undefined : `${kind.slice(0, -1)}-${id}-${name}`,
      });
    },
  );
}

function splitFile(file: string): { testcase: string; ending: 'json' | 'csv' } {
  const match = /^(.+)\.(json|csv)$/.exec(file);
  if (!match) throw badRequest('KD_MATRIX_ENDING', `"${file}" must end in .json or .csv.`);
  return { testcase: match[1]!, ending: match[2] as 'json' | 'csv' };
}

/** The full id of a commit from its first 7 or more hex digits; throws 404, and 409 when several begin so. */
export async function fullSha(ctx: ServerContext, prefix: string): Promise<string> {
  if (prefix.length === 40) return prefix;
  const found = await findCommits(ctx.db, prefix, 2);
  if (!found[0]) throw notFound('commit', prefix);
  if (found.length > 1)
    throw new ProblemError(409, 'KD_SHA_AMBIGUOUS', `Several commits begin with ${prefix}; give more digits.`);
  return found[0].sha;
}

async function sendMatrix(
  ctx: ServerContext,
  request: FastifyRequest,
  reply: FastifyReply,
  bootIds: number[],
  ending: 'json' | 'csv',
  name: string,
) {
  const matrix: Matrix = await loadMatrix(ctx.store.db, bootIds);
  if (matrix.metrics.size === 0) throw notFound('matrix', name, 'These boots have no numbers.');
  const lkp = (request.query as { lkp?: string }).lkp === '1';
  const text = ending === 'json' ? writeMatrixJson(matrix, { lkp }) : writeCsv(matrix);
  const type = ending === 'json' ? 'application/json; charset=utf-8' : 'text/csv; charset=utf-8; header=present';
  reply.header('content-disposition', `inline; filename*=UTF-8''${encodeURIComponent(`${name}.matrix.${ending}`)}`);
  return sendBytes(request, reply, Buffer.from(text), { type });
}

/** Shown as text or kept as a file; never as anything that a browser would run. */
function typeOf(name: string): string {
  if (/\.(tar\.gz|tgz|gz)$/.test(name)) return 'application/gzip';
  if (/\.json$/.test(name)) return 'application/json; charset=utf-8';
  if (/\.(bin|zst|xz|tar)$/.test(name)) return 'application/octet-stream';
  return 'text/plain; charset=utf-8';
}
