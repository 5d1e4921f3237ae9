import { and, eq } from 'drizzle-orm';
import type { Db } from './connect.ts';
import { pair } from './schema.ts';

export interface WantedPair {
  treeId?: number;
  branch?: string;
  baseKernelId: number;
  headKernelId: number;
  testcaseId: number;
  bisectId?: number;
}

/** The pair of two kernels at a testcase, made in state `planned` where it is new. */
export async function wantPair(db: Db, wanted: WantedPair): Promise<{ pair: typeof pair.$inferSelect; made: boolean }> {
  const [made] = await db.insert(pair).values(wanted).onConflictDoNothing().returning();
  if (made) return { pair: made, made: true };
  const [known] = await db
    .select()
    .from(pair)
    .where(
      and(
        eq(pair.baseKernelId, wanted.baseKernelId),
        eq(pair.headKernelId, wanted.headKernelId),
        eq(pair.testcaseId, wanted.testcaseId),
      ),
    );
  return { pair: known as typeof pair.$inferSelect, made: false };
}
