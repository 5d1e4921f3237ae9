import { reproduceScript } from '@kdelta/report';
import { listArtifacts, loadJudgement, loadPair } from '@kdelta/store';
import type { ServerContext } from '../../context.ts';
import { notFound } from '../../problems.ts';

/** The script made from the commands that really ran at a boot of the head; throws 404 while there is none. */
export async function reproduceOf(ctx: ServerContext, id: number): Promise<string> {
  const pair = await loadPair(ctx.db, id);
  if (!pair) throw notFound('pair', id);
  const judgement = pair.judgement_id === null ? null : await loadJudgement(ctx.db, pair.judgement_id);
  for (const bootId of [...(judgement?.head_boots ?? []), ...(judgement?.base_boots ?? [])]) {
    const files = await listArtifacts(ctx.db, { bootId });
    const read = async (name: string) => {
      const file = files.findLast((row) => row.name === name);
      return file && (await ctx.artifacts.has(file.sha256))
        ? (await ctx.artifacts.get(file.sha256)).toString('utf8')
        : null;
    };
    const script = await read('reproduce');
    if (script !== null) return script;
    const log = await read('reproduce.log');
    if (log !== null) return reproduceScript(log);
  }
  throw notFound('reproduce script of pair', id, 'It is made when a boot of it is done.');
}
