import type { Matrix } from '@kdelta/matrix';
import { inArray, sql } from 'drizzle-orm';
import type { Db } from './connect.ts';
import { unpackValues } from './packValues.ts';
import { bootMatrix } from './schema.ts';

/** Boot id → metric → number, for the boots that have a matrix. */
export async function loadBootValues(db: Db, bootIds: number[]): Promise<Map<number, Map<string, number>>> {
  if (bootIds.length === 0) return new Map();
  const rows = await db
    .select({ bootId: bootMatrix.bootId, layoutId: bootMatrix.layoutId, values: bootMatrix.values })
    .from(bootMatrix)
    .where(inArray(bootMatrix.bootId, bootIds));
  const names = await layoutNames(db, [...new Set(rows.map((row) => row.layoutId))]);
  return new Map(
    rows.map((row) => {
      const layout = names.get(row.layoutId) as string[];
      const values = new Map<string, number>();
      // A row written before its layout grew is shorter than the layout.
      unpackValues(row.values).forEach((value, slot) => {
        if (!Number.isNaN(value)) values.set(layout[slot] as string, value);
      });
      return [row.bootId, values];
    }),
  );
}

/** The matrix of the named boots, one column each in the order given; a boot without a matrix is a column of nulls. */
export async function loadMatrix(db: Db, bootIds: number[]): Promise<Matrix> {
  return matrixOf(bootIds, await loadBootValues(db, bootIds));
}

/** A matrix per group of boots, all read at once: what a layout's slots mean is a long list to parse for each. */
export async function loadMatrixOfEach(db: Db, groups: readonly number[][]): Promise<Matrix[]> {
  const values = await loadBootValues(db, groups.flat());
  return groups.map((bootIds) => matrixOf(bootIds, values));
}

function matrixOf(bootIds: number[], values: Map<number, Map<string, number>>): Matrix {
  const metrics = new Map<string, (number | null)[]>();
  bootIds.forEach((bootId, column) => {
    for (const [name, value] of values.get(bootId) ?? []) {
      let row = metrics.get(name);
      if (!row) {
        row = new Array<number | null>(bootIds.length).fill(null);
        metrics.set(name, row);
      }
      row[column] = value;
    }
  });
  const sorted = new Map([...metrics].sort(([a], [b]) => (a < b ? -1 : 1)));
  return { boots: bootIds.map(String), metrics: sorted };
}

/** Layout id → the metric's name in each slot. One array per layout: five thousand rows cost more to parse than to read. */
async function layoutNames(db: Db, layoutIds: number[]): Promise<Map<number, string[]>> {
  if (layoutIds.length === 0) return new Map();
  const { rows } = await db.execute<{ id: number; names: string[] }>(
    sql`select l.id, (select json_agg(m.name order by u.slot)
                        from unnest(l.metric_ids) with ordinality u(id, slot) join metric m on m.id = u.id) names
          from metric_layout l where l.id in ${layoutIds}`,
  );
  return new Map(rows.map((row) => [row.id, row.names]));
}
