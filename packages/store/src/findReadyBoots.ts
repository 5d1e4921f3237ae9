import { sql } from 'drizzle-orm';
import type { Db } from './connect.ts';

/**
 * The next boot of every host that is free: one whose kernel is built, whose block has no earlier boot open, and whose
 * block has not begun on another host. What was begun (its worker died, the guest may still run) and what continues a
 * block comes first, then by priority and age. `bootId`: only whether this boot could start now.
 */
export async function findReadyBoots(
  db: Db,
  bootId?: number,
): Promise<{ id: number; attempt: number; hostId: number }[]> {
  const { rows } = await db.execute<{ id: number; attempt: number; host_id: number }>(sql`
    with free as (
      select id, tbox_group from host
       where state not in ('quarantined', 'maintenance') and (lease_owner is null or lease_until < now())
    ), ready as (
      select b.id, b.attempt, f.id host_id,
             row_number() over (partition by f.id order by
               (b.work_dir is not null and b.host_id = f.id) desc, (b.host_id = f.id) desc nulls last,
               b.priority desc, b.wanted_at, b.pair_id, b.block, b.seq, b.id) as place_of_host,
             row_number() over (partition by b.id order by f.id) as place_of_boot
        from boot b
        join testcase t on t.id = b.testcase_id
        join kernel k on k.id = b.kernel_id and k.state = 'built'
        join free f on f.tbox_group = t.tbox_group and (b.host_id is null or b.host_id = f.id)
       where b.state = 'wanted' and b.claim is null
         and not exists (
           select 1 from boot e
            where e.block = b.block and e.seq < b.seq and e.state not in ('done', 'failed', 'cancelled')
              and ((e.pair_id is not null and e.pair_id = b.pair_id) or (e.bisect_id is not null and e.bisect_id = b.bisect_id)
                   or (e.saved_as is not null and e.saved_as = b.saved_as)))
    )
    select id, attempt, host_id from ready
     where ${bootId === undefined ? sql`place_of_host = 1 and place_of_boot = 1` : sql`id = ${bootId}`}
     order by id`);
  return rows.map((row) => ({ id: row.id, attempt: row.attempt, hostId: row.host_id }));
}
