import { findKernels, listArtifacts, listBoots } from '@kdelta/store';
import type { ServerContext } from '../../context.ts';
import { notFound } from '../../problems.ts';
import { tailOf } from '../boot/data.ts';
import { configDiff } from './configDiff.ts';

/** A kernel with the end of its build log and, against another one, the difference of their configs. */
export async function kernelPage(ctx: ServerContext, id: number, against: number | undefined) {
  const [kernel] = await findKernels(ctx.db, { id });
  if (!kernel) throw notFound('kernel', id);
  const [files, boots, others] = await Promise.all([
    listArtifacts(ctx.db, { kernelId: id }),
    listBoots(ctx.db, { kernel: id, limit: 50 }),
    kernel.sha ? findKernels(ctx.db, { sha: kernel.sha }) : [],
  ]);
  const log = files.findLast((file) => /build.*log|\.log$/.test(file.name));
  return {
    kernel,
    files,
    boots,
    others: others.filter((other) => other.id !== id),
    log: log ? await tailOf(ctx, log) : null,
    against,
    diff: against === undefined ? null : await diffOf(ctx, id, against),
  };
}
export type KernelPage = Awaited<ReturnType<typeof kernelPage>>;

async function diffOf(ctx: ServerContext, id: number, against: number) {
  const [own, other] = await Promise.all([configOf(ctx, id), configOf(ctx, against)]);
  return configDiff(other, own);
}

async function configOf(ctx: ServerContext, kernelId: number): Promise<string> {
  const file = (await listArtifacts(ctx.db, { kernelId })).findLast((row) => /^\.?config(-|$)/.test(row.name));
  if (!file || !(await ctx.artifacts.has(file.sha256)))
    throw notFound('config of kernel', kernelId, 'It was not kept.');
  return (await ctx.artifacts.get(file.sha256)).toString('utf8');
}
