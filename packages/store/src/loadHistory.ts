import { bootFacts, kernelFacts } from './facts.ts';
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
 * Any other metric comes from the 64 × 64 blocks where they exist and from the boots' own matrices for the rest. Of a branch
 * are the kernels of its pairs and those that their bisects booted, under the kernel whose image they have.
 */
export async function loadHistory(
  db: Queryable,
  of: { testcaseId: number; metric: string; tree?: string; branch?: string; limit: number },
): Promise<History> {
  const [metric] = await rows<{ id: number }>(db, 'loadHistory-metric', 'select id from metric where name = $1', [
    of.metric,
  ]);
  if (!metric) return EMPTY();
  const kpi = await newest(
    db,
    'loadHistory-kpi',
    `select boot_id, value from kpi_sample where testcase_id = $1 and metric_id = $3`,
    [of.testcaseId, of.limit, metric.id],
    of,
  );
  if (kpi) return withFacts(db, kpi.boots, kpi.values);
  const boots = await newest(
    db,
    'loadHistory-boots',
    `select boot_id, null::float8 "value" from (
       select id boot_id from boot where testcase_id = $1 and state = 'done') b where true`,
    [of.testcaseId, of.limit],
    of,
  );
  if (!boots) return EMPTY();
  const values = await slotValues(db, of.testcaseId, metric.id, boots.boots[0]!);
  const having = boots.boots.filter((boot) => values.has(boot));
  return withFacts(
    db,
    having,
    having.map((boot) => values.get(boot)!),
  );
}

/**
 * The newest $2 rows of a statement as two arrays, oldest first, made by Postgres: parsing 10,000 rows costs four times as
 * much as reading them. null when there are none.
 */
async function newest(
  db: Queryable,
  name: string,
  text: string,
  values: unknown[],
  of: { tree?: string; branch?: string },
): Promise<{ boots: number[]; values: number[] } | null> {
  const all = [...values];
  const parameter = (value: string) => `$${all.push(value)}`;
  const filters: string[] = [];
  if (of.tree !== undefined)
    filters.push(`and boot_id in (select x.id from boot x join kernel k on k.id = x.kernel_id
                                   where x.testcase_id = $1 and k.tree_id = (select id from tree where name = ${parameter(of.tree)}))`);
  if (of.branch !== undefined)
    filters.push(`and boot_id in (
      with p as (select * from pair where branch = ${parameter(of.branch)}),
      k as (select base_kernel_id id from p union select head_kernel_id from p
             union select y.kernel_id from boot y join p on p.bisect_id = y.bisect_id)
      select x.id from boot x where x.testcase_id = $1 and x.kernel_id in (
        select id from k union select same_as from kernel join k using (id) where same_as is not null))`);
  const [row] = await rows<{ boots: number[] | null; values: number[] }>(
    db,
    `${name}${of.tree === undefined ? '' : '-tree'}${of.branch === undefined ? '' : '-branch'}`,
    `select json_agg(boot_id) boots, json_agg("value") "values" from (
       ${text} ${filters.join(' ')} order by boot_id desc limit $2) x`,
    all,
  );
  return row?.boots ? { boots: row.boots.reverse(), values: row.values.reverse() } : null;
}

/** Adds when each boot ran, of what kernel and commit. */
async function withFacts(db: Queryable, boots: number[], values: number[]): Promise<History> {
  const factsOf = await bootFacts(db, boots);
  const facts = boots.map((boot) => factsOf(boot));
  // A boot that was deleted between two statements is left out.
  if (facts.includes(undefined)) {
    const there = boots.map((_, i) => i).filter((i) => facts[i]);
    return withFacts(
      db,
      there.map((i) => boots[i]!),
      there.map((i) => values[i]!),
    );
  }
  const kernels = facts.map((fact) => fact!.kernel);
  const commitOf = await kernelFacts(db, [...new Set(kernels)]);
  const commits = kernels.map((kernel) => commitOf(kernel));
  return {
    boots,
    kernels,
    shas: commits.map((commit) => commit?.sha ?? null),
    at: facts.map((fact) => fact!.at),
    committed: commits.map((commit) => commit?.committed ?? null),
    values,
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
