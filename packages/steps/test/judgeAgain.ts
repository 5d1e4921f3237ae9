import type { Registry } from '@kdelta/matrix';
import type { Judgement } from '@kdelta/stats';
import { boot, type Db, groupByKernel, judgement, testcase } from '@kdelta/store';
import { eq, inArray } from 'drizzle-orm';
import { judgeEvidence } from '../src/judge.ts';

/**
 * Judges again what a stored judgement names: the same boots, history and questions. By the same version of the judge and
 * the same registry the result packs into the same bytes, whatever has been booted since. null where there is no such
 * judgement, or one from before its history was kept.
 */
export async function judgeAgain(db: Db, id: number, registry: Registry): Promise<Judgement | null> {
  const [row] = await db.select().from(judgement).where(eq(judgement.id, id));
  if (!row?.historyBoots || !row.asked) return null;
  const [tc] = await db.select().from(testcase).where(eq(testcase.id, row.testcaseId));
  const rows = await db
    .select()
    .from(boot)
    .where(inArray(boot.id, [...row.baseBoots, ...row.headBoots]));
  const rowOf = new Map(rows.map((one) => [one.id, one]));
  const boots = { base: row.baseBoots.map((b) => rowOf.get(b)!), head: row.headBoots.map((b) => rowOf.get(b)!) };
  const history = await groupByKernel(db, row.historyBoots);
  return judgeEvidence(db, { boots, history, asked: row.asked, testcase: tc! }, registry);
}
