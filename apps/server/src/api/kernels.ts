import { findKernels, listArtifacts } from '@kdelta/store';
import { z } from 'zod';
import type { App, ServerContext } from '../context.ts';
import { commitPage } from '../pages/commit/data.ts';
import { notFound } from '../problems.ts';
import { urls } from '../urls.ts';
import { answers } from './answers.ts';
import { Boot, Failure, IdParams, Pair, Report, StoredFile } from './schemas.ts';

const Kernel = z
  .object({
    id: z.number(),
    kind: z.enum(['kbuild', 'deb']),
    tree: z.string().nullable(),
    sha: z.string().nullable(),
    package: z.string().nullable(),
    package_version: z.string().nullable(),
    subject: z.string().nullable(),
    kconfig: z.string(),
    kconfig_hash: z.string(),
    compiler: z.string(),
    cmdline: z.string(),
    release: z.string().nullable(),
    build_id: z.string().nullable(),
    load_hash: z.string().nullable(),
    same_as: z.number().nullable(),
    state: z.enum(['wanted', 'building', 'built', 'failed']),
    failure: Failure.nullable(),
    image_bytes: z.number().nullable(),
    build_ms: z.number().nullable(),
  })
  .meta({
    id: 'Kernel',
    description: 'A commit built with one kconfig and compiler, or a package, and its boot parameters.',
  });

const Commit = z
  .object({
    sha: z.string(),
    parents: z.array(z.string()),
    author_name: z.string(),
    author_email: z.string(),
    committer_name: z.string(),
    subject: z.string(),
    body: z.string(),
    kernels: z.array(Kernel),
    pairs: z.array(Pair),
    boots: z.array(Boot),
    reports: z.array(Report),
  })
  .meta({ id: 'Commit' });

export function kernelRoutes(app: App, ctx: ServerContext): void {
  app.get(
    '/api/v1/kernels/:id',
    {
      schema: {
        operationId: 'getKernel',
        tags: ['kernels'],
        summary: 'A kernel and its files: build log, config',
        params: IdParams,
        response: answers(Kernel.extend({ files: z.array(StoredFile) })),
      },
    },
    async (request) => {
      const { id } = request.params;
      const [kernel] = await findKernels(ctx.db, { id });
      if (!kernel) throw notFound('kernel', id);
      const files = await listArtifacts(ctx.db, { kernelId: id });
      return { ...kernel, files: files.map((file) => ({ ...file, url: urls.kernelFile(id, file.name) })) };
    },
  );

  app.get(
    '/api/v1/commits/:sha',
    {
      schema: {
        operationId: 'getCommit',
        tags: ['kernels'],
        summary: 'Everything known about a commit',
        params: z.object({ sha: z.string().regex(/^[0-9a-f]{7,40}$/) }),
        response: answers(Commit),
      },
    },
    async (request) => {
      const { commit, kernels, pairs, boots, reports } = await commitPage(ctx, request.params.sha);
      return { ...commit, kernels, pairs, boots, reports };
    },
  );
}
