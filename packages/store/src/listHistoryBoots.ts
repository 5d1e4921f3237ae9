import { sql } from 'drizzle-orm';
import type { Db } from './connect.ts';
import { groupByKernel } from './groupByKernel.ts';

/**
 * Boots of other kernels at a testcase that have ended, of ids below `cutoff` (null: all): the newest `limit`, as one
 * list per kernel, oldest kernel first (`groupByKernel`).
 */
export async function listHistoryBoots(
  db: Db,
  testcaseId: number,
  notKernels: number[],
  cutoff: number | null,
  limit = 128,
): Promise<number[][]> {
  const own = sql`${sql.param(notKernels)}::int[]`;
  const { rows } = await db.execute<{ id: number }>(sql`
    select b.id from boot b join kernel k on k.id = b.kernel_id join boot_matrix m on m.boot_id = b.id
     where b.testcase_id = ${testcaseId} and b.state = 'done' and (${cutoff}::int is null or b.id < ${cutoff})
       and coalesce(k.same_as, k.id) <> all(${own}) and k.id <> all(${own})
     order by b.id desc limit ${limit}`);
  return groupByKernel(
    db,
    rows.map((row) => row.id),
  );
}
