import { findCommits, findKernels, listBoots, listPairs, listReports } from '@kdelta/store';
import { fullSha } from '../../api/downloads.ts';
import type { ServerContext } from '../../context.ts';
import { notFound } from '../../problems.ts';

/** Everything known about a commit; throws 404 and 409 like fullSha. */
export async function commitPage(ctx: ServerContext, prefix: string) {
  const sha = await fullSha(ctx, prefix);
  const [[commit], kernels, pairs, boots, reports] = await Promise.all([
    findCommits(ctx.db, sha, 1),
    findKernels(ctx.db, { sha }),
    listPairs(ctx.db, { sha, limit: 200 }),
    listBoots(ctx.db, { sha, limit: 200 }),
    listReports(ctx.db, { sha, limit: 50 }),
  ]);
  if (!commit) throw notFound('commit', prefix, 'kdelta records the commits of the trees that it watches.');
  return { commit, kernels, pairs, boots, reports };
}
export type CommitPage = Awaited<ReturnType<typeof commitPage>>;
