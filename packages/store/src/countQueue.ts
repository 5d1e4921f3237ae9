import { type Queryable, rows } from './query.ts';

export interface QueueCount {
  boots: number;
  kernels: number;
  /** Oldest wanted boot. */
  oldest: Date | null;
  /** Median seconds of the last 50 boots, for the time that the queue will take. */
  boot_seconds: number | null;
  hosts: number;
}

/** What waits, and what a boot has been taking. */
export async function countQueue(db: Queryable): Promise<QueueCount> {
  const [row] = await rows<QueueCount>(
    db,
    'countQueue',
    `select (select count(*)::int from boot where state = 'wanted' and state not in ('done','failed','cancelled')) boots,
            (select count(*)::int from kernel where state = 'wanted') kernels,
            (select min(wanted_at) from boot where state = 'wanted' and state not in ('done','failed','cancelled')) oldest,
            (select percentile_cont(0.5) within group (order by s) from (
               select extract(epoch from finished_at - started_at) s from boot
                where state = 'done' order by id desc limit 50) x) boot_seconds,
            (select count(*)::int from host where state in ('idle','leased')) hosts`,
  );
  return row as QueueCount;
}
