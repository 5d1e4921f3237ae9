import { sql } from 'drizzle-orm';
import type { Db } from './connect.ts';

/** Boots as one list per kernel, in order of their ids, the kernel with the oldest boot first. Kernels with equal images are one. */
export async function groupByKernel(db: Db, bootIds: readonly number[]): Promise<number[][]> {
  const { rows } = await db.execute<{ boots: number[] }>(sql`
    select array_agg(b.id order by b.id) boots from boot b join kernel k on k.id = b.kernel_id
     where b.id = any(${sql.param(bootIds)}::int[]) group by coalesce(k.same_as, k.id) order by min(b.id)`);
  return rows.map((row) => row.boots);
}
