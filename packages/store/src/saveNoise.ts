import type { MetricNoise } from '@kdelta/stats';
import { sql } from 'drizzle-orm';
import type { Db } from './connect.ts';
import { noise } from './schema.ts';

/**
 * Puts the noise model of a testcase in the place of the one it had; of metrics that boots have brought. In a transaction
 * that holds `lockNoise`.
 */
export async function saveNoise(
  tx: Db,
  testcaseId: number,
  model: readonly MetricNoise[],
  made: { upToBoot: number; judgeVersion: string },
): Promise<void> {
  await tx.delete(noise).where(sql`testcase_id = ${testcaseId}`);
  const column = (key: keyof MetricNoise) => sql.param(model.map((row) => row[key]));
  // One array per column: a statement with a parameter per number would take ten times as long.
  await tx.execute(sql`
    insert into noise (testcase_id, metric_id, kpi, rel_variance, df, level, between_variance, kernels, boots,
                       up_to_boot, judge_version)
    select ${testcaseId}::int, m.id, u.kpi, u.rel_variance, u.df, u.level, u.between_variance, u.kernels, u.boots,
           ${made.upToBoot}::int, ${made.judgeVersion}::text
      from unnest(${column('metric')}::text[], ${column('kpi')}::boolean[], ${column('relVariance')}::float8[],
                  ${column('df')}::float8[], ${column('level')}::float8[], ${column('betweenVariance')}::float8[],
                  ${column('kernels')}::int[], ${column('boots')}::int[])
           u(name, kpi, rel_variance, df, level, between_variance, kernels, boots)
      join metric m on m.name = u.name`);
}

/** Until the end of the transaction nobody else makes a noise model of this testcase: the later one sees more boots. */
export async function lockNoise(tx: Db, testcaseId: number): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(8, ${testcaseId})`);
}
