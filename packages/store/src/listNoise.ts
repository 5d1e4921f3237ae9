import { type Queryable, rows } from './query.ts';

export interface NoiseRow {
  testcase_id: number;
  testcase: string;
  tbox_group: string;
  metric: string;
  kpi: boolean;
  kernels: number;
  boots: number;
  /** Boot-to-boot standard deviation within kernels, older boots fading, in percent of the level. */
  within_pct: number | null;
  /** Degrees of freedom that `within_pct` is worth. */
  df: number;
  /** Spread of the kernels' means, in percent. */
  between_pct: number | null;
  /** Mean of the newest kernel's boots. */
  level: number;
  up_to_boot: number;
}

/** The noise model, the noisiest first; KPIs only unless `all`. */
export async function listNoise(
  db: Queryable,
  filter: { testcaseId?: number; all?: boolean; limit?: number } = {},
): Promise<NoiseRow[]> {
  return rows<NoiseRow>(
    db,
    'listNoise',
    `select n.testcase_id, c.name testcase, c.tbox_group, m.name metric, n.kpi, n.kernels, n.boots,
            case when n.df > 0 then 100 * sqrt(n.rel_variance) end within_pct, n.df,
            100 * sqrt(n.between_variance) between_pct, n.level, n.up_to_boot
       from noise n join testcase c on c.id = n.testcase_id join metric m on m.id = n.metric_id
      where ($1::int is null or n.testcase_id = $1) and (n.kpi or $2)
      order by within_pct desc nulls last, c.name, n.testcase_id, m.name limit $3`,
    [filter.testcaseId ?? null, filter.all ?? false, filter.limit ?? 500],
  );
}
