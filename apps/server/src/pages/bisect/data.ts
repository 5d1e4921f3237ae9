import { listBoots, listEvents, listProbes, listRange, loadBisect } from '@kdelta/store';
import type { ServerContext } from '../../context.ts';
import { notFound } from '../../problems.ts';

/** A bisect with its range (oldest first), probes, boots and what people did to it; throws 404 KD_NOT_FOUND. */
export async function bisectPage(ctx: ServerContext, id: number) {
  const bisect = await loadBisect(ctx.db, id);
  if (!bisect) throw notFound('bisect', id);
  const [probes, range, boots, events] = await Promise.all([
    listProbes(ctx.db, id),
    listRange(ctx.db, bisect.good_sha, bisect.bad_sha, 2000),
    listBoots(ctx.db, { bisect: id, limit: 500 }),
    listEvents(ctx.db, { subject: `bisect:${id}`, limit: 200 }),
  ]);
  const posterior = bisect.posterior ?? probes.at(-1)?.posterior_after ?? {};
  const known = new Set(range.map((commit) => commit.sha));
  const commits = range.toReversed().map((commit) => ({
    sha: commit.sha,
    subject: commit.subject,
    author: commit.author_name,
    p: posterior[commit.sha] ?? 0,
  }));
  // A candidate that the store has no commit row for must still be seen.
  for (const [sha, p] of Object.entries(posterior))
    if (!known.has(sha)) commits.push({ sha, subject: '', author: '', p });
  return { bisect, probes, commits, boots, events };
}
export type BisectPage = Awaited<ReturnType<typeof bisectPage>>;
