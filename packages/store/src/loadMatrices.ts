import type { Matrix } from '@kdelta/matrix';
import { inArray } from 'drizzle-orm';
import type { Db } from './connect.ts';
import { unpackValues } from './packValues.ts';
import { bootMatrix, metric, metricLayout } from './schema.ts';

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
  const values = await loadBootValues(db, bootIds);
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

async function layoutNames(db: Db, layoutIds: number[]): Promise<Map<number, string[]>> {
  if (layoutIds.length === 0) return new Map();
  const layouts = await db.select().from(metricLayout).where(inArray(metricLayout.id, layoutIds));
  const ids = [...new Set(layouts.flatMap((layout) => layout.metricIds))];
  const metrics = ids.length > 0 ? await db.select().from(metric).where(inArray(metric.id, ids)) : [];
  const nameOf = new Map(metrics.map((row) => [row.id, row.name]));
  return new Map(layouts.map((layout) => [layout.id, layout.metricIds.map((id) => nameOf.get(id) as string)]));
}
