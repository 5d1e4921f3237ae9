import { type Queryable, rows } from './query.ts';

/** The names of a testcase's metrics that contain `part`, KPIs first; at most `limit`. */
export async function findMetrics(
  db: Queryable,
  of: { testcaseId: number; part: string; limit: number },
): Promise<{ name: string; kpi: boolean }[]> {
  return rows(
    db,
    'findMetrics',
    // The KPIs are found by hopping through the index. Asked of each metric by itself, Postgres read all samples every
    // time once it had learned that nearly all are of one metric: 8 s.
    `with recursive kpi(id) as (
       (select metric_id from kpi_sample where testcase_id = $1 order by metric_id limit 1)
       union all
       select (select metric_id from kpi_sample s where s.testcase_id = $1 and s.metric_id > kpi.id
                order by metric_id limit 1) from kpi where kpi.id is not null)
     select m.name, k.id is not null kpi
       from (select distinct unnest(metric_ids) id from metric_layout where testcase_id = $1) l
       join metric m on m.id = l.id
       left join kpi k on k.id = m.id
      where position(lower($2) in lower(m.name)) > 0
      order by kpi desc, m.name limit $3`,
    [of.testcaseId, of.part, of.limit],
  );
}
