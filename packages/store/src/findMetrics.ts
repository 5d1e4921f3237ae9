import { type Queryable, rows } from './query.ts';

/** The names of a testcase's metrics that contain `part`, KPIs first; at most `limit`. */
export async function findMetrics(
  db: Queryable,
  of: { testcaseId: number; part: string; limit: number },
): Promise<{ name: string; kpi: boolean }[]> {
  return rows(
    db,
    'findMetrics',
    `select m.name, exists (select 1 from kpi_sample s where s.testcase_id = $1 and s.metric_id = m.id) kpi
       from metric m
      where m.id in (select unnest(metric_ids) from metric_layout where testcase_id = $1)
        and position(lower($2) in lower(m.name)) > 0
      order by kpi desc, m.name limit $3`,
    [of.testcaseId, of.part, of.limit],
  );
}
