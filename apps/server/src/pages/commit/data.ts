import { diffstat } from '@kdelta/git';
import { mirrorDir } from '@kdelta/steps';
import { findCommits, findKernels, listBoots, listPairs, listReports } from '@kdelta/store';
import { fullSha } from '../../api/downloads.ts';
import type { ServerContext } from '../../context.ts';
import { notFound } from '../../problems.ts';

/** Lines of a diffstat that a page shows; of a merge window there are thousands. */
const STAT_LINES = 60;

/** Everything known about a commit; throws 404 and 409 like fullSha. */
export async function commitPage(ctx: ServerContext, prefix: string) {
  const sha = await fullSha(ctx, prefix);
  const [[commit], kernels, pairs, boots, reports, stat] = await Promise.all([
    findCommits(ctx.db, sha, 1),
    findKernels(ctx.db, { sha }),
    listPairs(ctx.db, { sha, limit: 200 }),
    listBoots(ctx.db, { sha, limit: 200 }),
    listReports(ctx.db, { sha, limit: 50 }),
    statOf(ctx, sha),
  ]);
  if (!commit) throw notFound('commit', prefix, 'kdelta records the commits of the trees that it watches.');
  return { commit, kernels, pairs, boots, reports, stat };
}
export type CommitPage = Awaited<ReturnType<typeof commitPage>>;

/** Which files it changes, from the first mirror on this machine that has it and its parent; null where none does. */
async function statOf(ctx: ServerContext, sha: string): Promise<string | null> {
  for (const tree of ctx.config.trees) {
    const text = await diffstat(mirrorDir(ctx, tree.name), sha).catch(() => null);
    if (text === null || text === '') continue;
    const lines = text.trimEnd().split('\n');
    const left = lines.length - 1 - STAT_LINES;
    return left > 0
      ? [...lines.slice(0, STAT_LINES), ` … ${left} more files`, lines.at(-1)].join('\n')
      : lines.join('\n');
  }
  return null;
}
