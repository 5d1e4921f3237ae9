import { slotOfBlock } from './packBlocks.ts';
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
  const kpi = await bootsOf(
    db,
    'loadHistory-kpi',
    `select s.boot_id, s.value, b.kernel_id, b.started_at
       from kpi_sample s join boot b on b.id = s.boot_id where s.testcase_id = $1 and s.metric_id = $3`,
    [of.testcaseId, of.limit, metric.id],
    of.tree,
  );
  if (kpi) return withCommits(db, kpi);
  const known = await bootsOf(
    db,
    'loadHistory-boots',
    `select b.id boot_id, null::float8 "value", b.kernel_id, b.started_at
       from boot b where b.testcase_id = $1 and b.state = 'done'`,
    [of.testcaseId, of.limit],
    of.tree,
  );
  if (!known) return EMPTY();
  const values = await slotValues(db, of.testcaseId, metric.id, known.boots[0]!);
  const chosen: Boots = { boots: [], kernels: [], at: [], values: [] };
  known.boots.forEach((boot, i) => {
    const value = values.get(boot);
    if (value === undefined) return;
    chosen.boots.push(boot);
    chosen.kernels.push(known.kernels[i]!);
    chosen.at.push(known.at[i]!);
    chosen.values.push(value);
  });
  return withCommits(db, chosen);
}

type Boots = Pick<History, 'boots' | 'kernels' | 'at' | 'values'>;

/**
 * The newest $2 boots of a statement as parallel arrays, oldest first, made by Postgres: parsing 10,000 rows costs four
 * times as much as reading them. null when there are none.
 */
async function bootsOf(
  db: Queryable,
  name: string,
  text: string,
  values: unknown[],
  tree: string | undefined,
): Promise<Boots | null> {
  const ofTree = `and b.kernel_id in (select id from kernel where tree_id = (select id from tree where name = $${values.length + 1}))`;
  const [row] = await rows<Boots>(
    db,
    tree === undefined ? name : `${name}-tree`,
    `select json_agg(boot_id) boots, json_agg(kernel_id) kernels, json_agg(at) at, json_agg("value") "values" from (
       select boot_id, kernel_id, extract(epoch from started_at)::int at, "value" from (
         ${text} ${tree === undefined ? '' : ofTree} order by boot_id desc limit $2) newest order by boot_id) x`,
    tree === undefined ? values : [...values, tree],
  );
  return row?.boots ? row : null;
}

/** Adds each boot's commit. Kernels are fewer than boots: joined once each, a history takes a third of the time. */
async function withCommits(db: Queryable, boots: Boots): Promise<History> {
  const [row] = await rows<{ ids: number[] | null; shas: (string | null)[]; committed: (number | null)[] }>(
    db,
    'loadHistory-commits',
    `select json_agg(k.id) ids, json_agg(k.sha) shas, json_agg(extract(epoch from c.committed_at)::int) committed
       from kernel k left join commit c on c.sha = k.sha where k.id = any($1)`,
    [[...new Set(boots.kernels)]],
  );
  const at = new Map(row?.ids?.map((id, i) => [id, i]));
  const of = <T>(list: T[] | undefined, kernel: number) => list?.[at.get(kernel) ?? -1] ?? null;
  return {
    ...boots,
    shas: boots.kernels.map((kernel) => of(row?.shas, kernel)),
    committed: boots.kernels.map((kernel) => of(row?.committed, kernel)),
  };
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
    // The tail first: boots that move into a block between the two statements are then read twice instead of never.
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
    const blocks = await rows<{ boot_ids: number[]; values: Buffer }>(
      db,
      'loadHistory-blocks',
      `select array_to_json(b.boot_ids) boot_ids, ${slotOfBlock('$3::int')} "values"
         from matrix_block b join metric_block m using (layout_id, block)
        where b.layout_id = $1 and m.grp = $2 order by b.block`,
      [id, slot >> 6, slot & 63],
    );
    for (const block of blocks) {
      const numbers = unpackValues(block.values);
      block.boot_ids.forEach((boot, column) => {
        const value = numbers[column];
        if (boot >= from && value !== undefined && !Number.isNaN(value)) values.set(boot, value);
      });
    }
  }
  return values;
}
