import { and, eq, inArray } from 'drizzle-orm';
import type { Db } from './connect.ts';
import { kernel } from './schema.ts';

type KernelRow = typeof kernel.$inferSelect;

/** Commit → its kernel, of those commits that have one with the tree, kconfig and boot parameters of `like`. */
export async function findRangeKernels(db: Db, like: KernelRow, shas: string[]): Promise<Map<string, KernelRow>> {
  if (!shas.length || like.treeId === null) return new Map();
  const found = await db
    .select()
    .from(kernel)
    .where(
      and(
        eq(kernel.kind, like.kind),
        eq(kernel.treeId, like.treeId),
        eq(kernel.kconfigHash, like.kconfigHash),
        eq(kernel.cmdline, like.cmdline),
        inArray(kernel.sha, shas),
      ),
    );
  return new Map(found.map((k) => [k.sha!, k]));
}
