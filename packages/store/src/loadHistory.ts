import { unpackValues } from './packValues.ts';
import { type Queryable, rows } from './query.ts';

/** Boots in order with what a chart needs; parallel arrays, because there are ten thousand of them. */
export interface History {
  boots: number[];
  kernels: number[];
  shas: (string | null)[];
  /** Seconds since the epoch: when the boot started. */
  at: number[];
  /** Seconds since the epoch: when the commit was committed; null for packages. */
  committed: (number | null)[];
  values: number[];
}

const EMPTY = (): History => ({ boots: [], kernels: [], shas: [], at: [], committed: [], values: [] });

/**
 * All numbers of one metric at a testcase, oldest boot first, at most `limit` of the newest. A KPI comes from `kpi_sample`.
 * Any other metric comes from the 64 × 64 blocks where they exist and from the boots' own matrices for the rest.
 */
export async function loadHistory(
  db: Queryable,
  of: { testcaseId: number; metric: string; tree?: string; limit: number },
): Promise<History> {
  const [metric] = await rows<{ id: number }>(db, 'loadHistory-metric', 'select id from metric where name = $1', [
    of.metric,
  ]);
  if (!metric) return EMPTY();
  // Aggregated into five arrays: parsing 10,000 rows costs more than reading them.
  const [kpi] = await rows<{
    boots: number[] | null;
    kernels: number[];
    shas: (string | null)[];
    at: number[];
    committed: (number | null)[];
    values: number[];
  }>(
    db,
    'loadHistory-kpi',
    `select json_agg(boot_id) boots, json_agg(kernel_id) kernels, json_agg(sha) shas, json_agg(at) at, json_agg(committed) committed, json_agg(value) "values" from (
       select s.boot_id, b.kernel_id, k.sha, extract(epoch from b.started_at)::int at,
              extract(epoch from c.committed_at)::int committed, s.value
         from (select boot_id, value from kpi_sample where testcase_id = $1 and metric_id = $2
                order by boot_id desc limit $3) s
         join boot b on b.id = s.boot_id join kernel k on k.id = b.kernel_id left join commit c on c.sha = k.sha
        where $4::text is null or k.tree_id = (select id from tree where name = $4)
        order by s.boot_id) x`,
    [of.testcaseId, metric.id, of.limit, of.tree ?? null],
  );
  if (kpi?.boots)
    return {
      boots: kpi.boots,
      kernels: kpi.kernels,
      shas: kpi.shas,
      at: kpi.at,
      committed: kpi.committed,
      values: kpi.values,
    };

  const [known] = await rows<{
    boots: number[] | null;
    kernels: number[];
    shas: (string | null)[];
    at: number[];
    committed: (number | null)[];
  }>(
    db,
    'loadHistory-boots',
    `select json_agg(id) boots, json_agg(kernel_id) kernels, json_agg(sha) shas, json_agg(at) at, json_agg(committed) committed from (
       select * from (
         select b.id, b.kernel_id, k.sha, extract(epoch from b.started_at)::int at,
                extract(epoch from c.committed_at)::int committed
           from boot b join kernel k on k.id = b.kernel_id left join commit c on c.sha = k.sha
          where b.testcase_id = $1 and b.state = 'done'
            and ($2::text is null or k.tree_id = (select id from tree where name = $2))
          order by b.id desc limit $3) newest
        order by id) x`,
    [of.testcaseId, of.tree ?? null, of.limit],
  );
  if (!known?.boots) return EMPTY();
  const values = await slotValues(db, of.testcaseId, metric.id, known.boots[0]!);
  const history = EMPTY();
  known.boots.forEach((boot, i) => {
    const value = values.get(boot);
    if (value === undefined) return;
    history.boots.push(boot);
    history.kernels.push(known.kernels[i]!);
    history.shas.push(known.shas[i]!);
    history.at.push(known.at[i]!);
    history.committed.push(known.committed[i]!);
    history.values.push(value);
  });
  return history;
}

/** Boot id → number of one metric, from blocks where there are any (reference: store study, query c). */
async function slotValues(
  db: Queryable,
  testcaseId: number,
  metricId: number,
  from: number,
): Promise<Map<number, number>> {
  const values = new Map<number, number>();
  const layouts = await rows<{ id: number; slot: number }>(
    db,
    'loadHistory-layouts',
    `select id, array_position(metric_ids, $2) - 1 slot from metric_layout
      where testcase_id = $1 and metric_ids @> array[$2::int]`,
    [testcaseId, metricId],
  );
  for (const { id, slot } of layouts) {
    const blocks = await rows<{ boot_ids: number[]; values: Buffer }>(
      db,
      'loadHistory-blocks',
      `select b.boot_ids, m.values from matrix_block b join metric_block m using (layout_id, block)
        where b.layout_id = $1 and m.grp = $2 order by b.block`,
      [id, slot >> 6],
    );
    for (const block of blocks) {
      const numbers = unpackValues(block.values);
      block.boot_ids.forEach((boot, column) => {
        const value = numbers[(slot & 63) * 64 + column];
        if (boot >= from && value !== undefined && !Number.isNaN(value)) values.set(boot, value);
      });
    }
    const tail = await rows<{ boot_id: number; values: Buffer }>(
      db,
      'loadHistory-tail',
      'select boot_id, values from boot_matrix where layout_id = $1 and block is null and boot_id >= $2',
      [id, from],
    );
    for (const row of tail) {
      const value = unpackValues(row.values)[slot];
      if (value !== undefined && !Number.isNaN(value)) values.set(row.boot_id, value);
    }
  }
  return values;
}
