import { listArtifacts, loadJudgement, loadPair } from '@kdelta/store';
import type { ServerContext } from '../../context.ts';
import { notFound } from '../../problems.ts';

/** The script made from the commands that really ran at a boot of the head; throws 404 while there is none. */
export async function reproduceOf(ctx: ServerContext, id: number): Promise<string> {
  const pair = await loadPair(ctx.db, id);
  if (!pair) throw notFound('pair', id);
  const judgement = pair.judgement_id === null ? null : await loadJudgement(ctx.db, pair.judgement_id);
  for (const bootId of [...(judgement?.head_boots ?? []), ...(judgement?.base_boots ?? [])]) {
    const file = (await listArtifacts(ctx.db, { bootId })).findLast((row) => /^reproduce/.test(row.name));
    if (file && (await ctx.artifacts.has(file.sha256))) return (await ctx.artifacts.get(file.sha256)).toString('utf8');
  }
  throw notFound('reproduce script of pair', id, 'It is made when a boot of it is done.');
}
