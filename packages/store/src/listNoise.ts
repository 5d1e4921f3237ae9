import { type Queryable, rows } from './query.ts';

export interface NoiseRow {
  testcase_id: number;
  testcase: string;
  tbox_group: string;
  metric: string;
  kernels: number;
  boots: number;
  /** Pooled boot-to-boot standard deviation within kernels, in percent of the mean. */
  within_pct: number | null;
  /** Spread of the kernels' means, in percent. */
  between_pct: number | null;
}

/** How far the boots of one kernel scatter, per KPI and testcase, over the last `boots` boots. */
export async function listNoise(
  db: Queryable,
  filter: { testcaseId?: number; boots?: number } = {},
): Promise<NoiseRow[]> {
  return rows<NoiseRow>(
    db,
    'listNoise',
    `with newest as (
       select s.testcase_id, s.metric_id, b.kernel_id, s.value,
              row_number() over (partition by s.testcase_id, s.metric_id order by s.boot_id desc) r
         from kpi_sample s join boot b on b.id = s.boot_id
        where ($1::int is null or s.testcase_id = $1)
          and s.boot_id > (select coalesce(max(id), 0) - $2 * 20 from boot)),
     per as (
       select testcase_id, metric_id, kernel_id, count(*) n, avg(value) mean, var_samp(value) var
         from newest where r <= $2 group by 1, 2, 3)
     select p.testcase_id, c.name testcase, c.tbox_group, m.name metric, count(*)::int kernels, sum(n)::int boots,
            100 * sqrt(sum(var * (n - 1)) / nullif(sum(n - 1), 0)) / nullif(abs(avg(mean)), 0) within_pct,
            100 * stddev_samp(mean) / nullif(abs(avg(mean)), 0) between_pct
       from per p join testcase c on c.id = p.testcase_id join metric m on m.id = p.metric_id
      group by p.testcase_id, c.name, c.tbox_group, m.name
      order by within_pct desc nulls last limit 500`,
    [filter.testcaseId ?? null, filter.boots ?? 500],
  );
}
