import { type Queryable, rows } from './query.ts';

export interface Counted {
  what: 'boots' | 'kernels' | 'pairs' | 'bisects' | 'reports' | 'hosts' | 'mails';
  state: string;
  class: string | null;
  n: number;
}

/** Rows by state for the metrics endpoint; boots and kernels that failed also by class. */
export async function countMetrics(db: Queryable): Promise<Counted[]> {
  return rows<Counted>(
    db,
    'countMetrics',
    `select 'boots' what, state, failure->>'class' "class", count(*)::int n from boot group by 2, 3
     union all select 'kernels', state, failure->>'class', count(*)::int from kernel group by 2, 3
     union all select 'pairs', state, verdict, count(*)::int from pair group by 2, 3
     union all select 'bisects', state, null, count(*)::int from bisect group by 2
     union all select 'reports', state, null, count(*)::int from report group by 2
     union all select 'hosts', state, null, count(*)::int from host group by 2
     union all select 'mails', state, null, count(*)::int from outbox group by 2`,
  );
}
