import { eq, max } from 'drizzle-orm';
import type { Db } from './connect.ts';
import { boot } from './schema.ts';

export interface BootsFor {
  testcaseId: number;
  pairId?: number;
  bisectId?: number;
  savedAs?: string;
  priority?: number;
}

/**
 * Asks for one block of boots, in the order of `kernelIds`: they run one after the other on one host. For a pair's
 * order see `interleaved`. Returns the boots' ids.
 */
export async function wantBoots(db: Db, kernelIds: number[], wanted: BootsFor): Promise<number[]> {
  const owner = wanted.pairId
    ? eq(boot.pairId, wanted.pairId)
    : wanted.bisectId
      ? eq(boot.bisectId, wanted.bisectId)
      : null;
  const last = owner
    ? (
        await db
          .select({ block: max(boot.block) })
          .from(boot)
          .where(owner)
      )[0]?.block
    : null;
  const block = last === null || last === undefined ? 0 : last + 1;
  const rows = await db
    .insert(boot)
    .values(kernelIds.map((kernelId, seq) => ({ ...wanted, kernelId, block, seq })))
    .returning({ id: boot.id });
  return rows.map((row) => row.id);
}

/** A B B A A B B A …: `each` boots of either kernel, so that a drift of the host hits both alike. */
export function interleaved(base: number, head: number, each: number): number[] {
  return Array.from({ length: 2 * each }, (_, i) => (i % 4 === 0 || i % 4 === 3 ? base : head));
}
