import { unpackValues } from './packValues.ts';
import { type Queryable, rows } from './query.ts';

export interface MetricPoint {
  boot_id: number;
  kernel_id: number;
  value: number;
}

/**
 * The last `limit` numbers of one metric at a testcase up to a boot, oldest first. KPIs come from `kpi_sample`; any other
 * metric is picked out of the boots' own matrices, which costs some 0.2 ms per boot.
 */
export async function loadMetricHistory(
  db: Queryable,
  of: { testcaseId: number; metric: string; upTo: number; limit: number },
): Promise<MetricPoint[]> {
  const points = await rows<MetricPoint>(
    db,
    'loadMetricHistory',
    `select s.boot_id, b.kernel_id, s.value
       from kpi_sample s join boot b on b.id = s.boot_id
      where s.testcase_id = $1 and s.metric_id = (select id from metric where name = $2) and s.boot_id <= $3
      order by s.boot_id desc limit $4`,
    [of.testcaseId, of.metric, of.upTo, of.limit],
  );
  if (points.length) return points.reverse();
  const boots = await rows<{ boot_id: number; kernel_id: number; slot: number | null; values: Buffer }>(
    db,
    'loadMetricHistory-matrix',
    `select m.boot_id, b.kernel_id, l.slot, m.values
       from (select id, kernel_id from boot where testcase_id = $1 and id <= $3 order by id desc limit $4) b
       join boot_matrix m on m.boot_id = b.id
       join (select id, array_position(metric_ids, (select id from metric where name = $2)) - 1 slot
               from metric_layout where testcase_id = $1) l on l.id = m.layout_id
      order by m.boot_id`,
    [of.testcaseId, of.metric, of.upTo, of.limit],
  );
  return boots.flatMap(({ boot_id, kernel_id, slot, values }) => {
    const value = slot === null ? undefined : unpackValues(values)[slot];
    return value === undefined || Number.isNaN(value) ? [] : [{ boot_id, kernel_id, value }];
  });
}
