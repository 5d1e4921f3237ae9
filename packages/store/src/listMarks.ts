import { type Queryable, rows } from './query.ts';
import type { VerdictName } from './schema.ts';

export interface Mark {
  pair_id: number;
  verdict: VerdictName;
  change_pct: number | null;
  head_kernel_id: number;
  bisect_id: number | null;
  report_id: number | null;
}

/** The pairs at a testcase in which one metric changed: what stands at the steps of a history. */
export async function listMarks(db: Queryable, of: { testcaseId: number; metric: string }): Promise<Mark[]> {
  return rows<Mark>(
    db,
    'listMarks',
    `select p.id pair_id, d.verdict, d.change_pct, p.head_kernel_id, p.bisect_id,
            (select max(id) from report r where r.pair_id = p.id or r.bisect_id = p.bisect_id) report_id
       from delta d join pair p on p.judgement_id = d.judgement_id
      where d.metric_id = (select id from metric where name = $2) and p.testcase_id = $1
        and d.verdict in ('regression','improvement','changed')
      order by p.id limit 500`,
    [of.testcaseId, of.metric],
  );
}
