import { and, desc, eq } from 'drizzle-orm';
import type { Db } from './connect.ts';
import { branchHead, tree } from './schema.ts';

/**
 * Records that a branch's tip is now `sha`; null when that was known. Two watchers that see the same tip take turns on
 * the tree's row.
 */
export async function recordHead(
  tx: Db,
  head: { treeId: number; branch: string; sha: string },
): Promise<typeof branchHead.$inferSelect | null> {
  await tx.select({ id: tree.id }).from(tree).where(eq(tree.id, head.treeId)).for('update');
  const [last] = await tx
    .select({ sha: branchHead.sha })
    .from(branchHead)
    .where(and(eq(branchHead.treeId, head.treeId), eq(branchHead.branch, head.branch)))
    .orderBy(desc(branchHead.id))
    .limit(1);
  if (last?.sha === head.sha) return null;
  const [made] = await tx.insert(branchHead).values(head).returning();
  return made as typeof branchHead.$inferSelect;
}
