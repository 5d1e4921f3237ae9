import { type Queryable, rows } from './query.ts';
import type { Progress } from './schema.ts';

export interface RunningRow {
  what: 'boot' | 'kernel';
  id: number;
  state: string;
  host: string | null;
  sha: string | null;
  package: string | null;
  testcase: string | null;
  pair_id: number | null;
  bisect_id: number | null;
  progress: Progress | null;
  started_at: Date | null;
}

/** Boots on hosts and kernels being built right now. */
export async function listRunning(db: Queryable): Promise<RunningRow[]> {
  return rows<RunningRow>(
    db,
    'listRunning',
    `select 'boot' what, b.id, b.state, h.name host, k.sha, k.package, c.name testcase, b.pair_id, b.bisect_id, b.progress,
            b.started_at
       from boot b join kernel k on k.id = b.kernel_id join testcase c on c.id = b.testcase_id
       left join host h on h.id = b.host_id
      where b.state in ('claimed','booting','running','collecting')
     union all
     select 'kernel', k.id, k.state, null, k.sha, k.package, null, null, null, k.progress, null
       from kernel k where k.state = 'building'
      order by 1, 2`,
  );
}
