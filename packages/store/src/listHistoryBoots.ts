import { sql } from 'drizzle-orm';
import type { Db } from './connect.ts';

/**
 * Boots of other kernels at a testcase that ended before boot `cutoff`, one list per kernel, oldest kernel first: the
 * newest `limit` boots. Kernels with equal images are one.
 */
export async function listHistoryBoots(
  db: Db,
  testcaseId: number,
  notKernels: number[],
  cutoff: number,
  limit = 128,
): Promise<number[][]> {
  const none = sql.raw('array[]::int[]');
  const own = notKernels.length
    ? sql`array[${sql.join(
        notKernels.map((k) => sql`${k}::int`),
        sql`, `,
      )}]`
    : none;
  const { rows } = await db.execute<{ boots: number[] }>(sql`
    select array_agg(id order by id) boots from (
      select b.id, coalesce(k.same_as, k.id) root
        from boot b join kernel k on k.id = b.kernel_id join boot_matrix m on m.boot_id = b.id
       where b.testcase_id = ${testcaseId} and b.state = 'done' and b.id < ${cutoff}
         and coalesce(k.same_as, k.id) <> all(${own}) and k.id <> all(${own})
       order by b.id desc limit ${limit}) recent
     group by root order by min(id)`);
  return rows.map((row) => row.boots);
}
