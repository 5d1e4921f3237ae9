import { desc, eq, inArray, sql } from 'drizzle-orm';
import type { Db } from './connect.ts';
import { StoreError } from './errors.ts';
import { packValues } from './packValues.ts';
import { bootMatrix, kpiSample, metric, metricLayout } from './schema.ts';

/** A layout beyond this many slots is followed by a new one (≥ 4 × the largest boot). */
const slotCap = 32_768;

/**
 * Keeps the numbers of one boot: metric → number. New metrics are appended to the testcase's newest layout. Call it in the
 * transaction that finishes the boot; it holds the testcase's lock until the end of it. A second call for the same boot
 * fails on its key: a boot is counted once. Throws KD_SAMPLE_NOT_FINITE (NaN would mean absent).
 */
export async function saveBootMatrix(
  tx: Db,
  boot: { bootId: number; testcaseId: number; values: Map<string, number>; kpis: Set<string> },
): Promise<void> {
  for (const [name, value] of boot.values) {
    if (!Number.isFinite(value))
      throw new StoreError('KD_SAMPLE_NOT_FINITE', `${name} of boot ${boot.bootId} is ${value}`);
  }
  const ids = await metricIds(tx, [...boot.values.keys()]);
  const layout = await layoutFor(tx, boot.testcaseId, [...ids.values()]);
  const slots = new Float64Array(layout.metricIds.length).fill(Number.NaN);
  const slotOf = new Map(layout.metricIds.map((id, slot) => [id, slot]));
  for (const [name, value] of boot.values) slots[slotOf.get(ids.get(name) as number) as number] = value;

  await tx.insert(bootMatrix).values({ bootId: boot.bootId, layoutId: layout.id, values: packValues(slots) });
  const kpis = [...boot.kpis].filter((name) => boot.values.has(name));
  if (kpis.length === 0) return;
  await tx.insert(kpiSample).values(
    kpis.map((name) => ({
      testcaseId: boot.testcaseId,
      metricId: ids.get(name) as number,
      bootId: boot.bootId,
      value: boot.values.get(name) as number,
    })),
  );
}

/** Metric name → id, made where new. */
export async function metricIds(db: Db, names: string[]): Promise<Map<string, number>> {
  if (names.length === 0) return new Map();
  const read = () => db.select().from(metric).where(inArray(metric.name, names));
  let rows = await read();
  if (rows.length < new Set(names).size) {
    const known = new Set(rows.map((row) => row.name));
    // Sorted, so that two boots that bring the same new names don't wait for each other crosswise.
    const fresh = [...new Set(names)].filter((name) => !known.has(name)).sort();
    await db
      .insert(metric)
      .values(fresh.map((name) => ({ name })))
      .onConflictDoNothing();
    rows = await read();
  }
  return new Map(rows.map((row) => [row.name, row.id]));
}

async function layoutFor(tx: Db, testcaseId: number, ids: number[]): Promise<{ id: number; metricIds: number[] }> {
  const newest = async () => {
    const rows = await tx
      .select({ id: metricLayout.id, metricIds: metricLayout.metricIds })
      .from(metricLayout)
      .where(eq(metricLayout.testcaseId, testcaseId))
      .orderBy(desc(metricLayout.id))
      .limit(1);
    return rows[0];
  };
  const lacking = (layout: { metricIds: number[] } | undefined) => {
    const known = new Set(layout?.metricIds);
    return ids.filter((id) => !known.has(id));
  };
  let layout = await newest();
  if (layout && lacking(layout).length === 0) return layout;

  await tx.execute(sql`select 1 from testcase where id = ${testcaseId} for no key update`);
  layout = await newest();
  const missing = lacking(layout);
  if (layout && missing.length === 0) return layout;
  if (!layout || layout.metricIds.length + missing.length > slotCap) {
    const [made] = await tx
      .insert(metricLayout)
      .values({ testcaseId, metricIds: ids })
      .returning({ id: metricLayout.id, metricIds: metricLayout.metricIds });
    return made as { id: number; metricIds: number[] };
  }
  const [grown] = await tx
    .update(metricLayout)
    .set({ metricIds: [...layout.metricIds, ...missing] })
    .where(eq(metricLayout.id, layout.id))
    .returning({ id: metricLayout.id, metricIds: metricLayout.metricIds });
  return grown as { id: number; metricIds: number[] };
}
