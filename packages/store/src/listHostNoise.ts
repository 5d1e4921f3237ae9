import { type Queryable, rows } from './query.ts';

export interface HostNoisePoint {
  testcase: string;
  metric: string;
  day: string;
  boots: number;
  /** Pooled boot-to-boot standard deviation of the day, in percent. */
  within_pct: number;
}

/** The noise of each KPI on one host, day by day over the last 60 days. */
export async function listHostNoise(db: Queryable, host: string): Promise<HostNoisePoint[]> {
  return rows<HostNoisePoint>(
    db,
    'listHostNoise',
    `with per as (
       select s.testcase_id, s.metric_id, b.kernel_id, date_trunc('day', b.started_at) as day, count(*) n, avg(s.value) mean,
              var_samp(s.value) var
         from boot b join kpi_sample s on s.boot_id = b.id
        where b.host_id = (select id from host where name = $1) and b.started_at > now() - interval '60 days'
        group by 1, 2, 3, 4 having count(*) > 1)
     select c.name testcase, m.name metric, to_char(day, 'YYYY-MM-DD') as day, sum(n)::int boots,
            100 * sqrt(sum(var * (n - 1)) / sum(n - 1)) / nullif(abs(avg(mean)), 0) within_pct
       from per p join testcase c on c.id = p.testcase_id join metric m on m.id = p.metric_id
      group by 1, 2, 3 order by 1, 2, 3 limit 3000`,
    [host],
  );
}
