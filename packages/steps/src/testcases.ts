import { createHash } from 'node:crypto';
import { expandJob, type HostFile, type JobFile, packagesOf, type Testcase, withVersions } from '@kdelta/jobs';
import { programVersion } from '@kdelta/programs';
import { type Db, host, type testcase, wantTestcase } from '@kdelta/store';
import { sql } from 'drizzle-orm';
import type { StepContext } from './context.ts';

/** The testcases of a job on a host, with the versions that make results comparable. */
export async function expandOn(
  ctx: Pick<StepContext, 'programs' | 'driverOf'>,
  job: JobFile,
  on: HostFile,
): Promise<Testcase[]> {
  const expanded = expandJob(job, on, ctx.programs);
  if (expanded.length === 0) return [];
  const driver = ctx.driverOf(on);
  return Promise.all(
    expanded.map(async (one) => {
      const uses = [one.run, ...one.setups, ...one.monitors].map((use) => use.name);
      const hash = createHash('sha256');
      for (const name of [...new Set(uses)].sort()) {
        const meta = ctx.programs.get(name);
        if (meta) hash.update(`${name} ${await programVersion(meta)}\n`);
      }
      const facts = await driver.versions(packagesOf(one, ctx.programs));
      return withVersions(one, { ...facts, programs: hash.digest('hex').slice(0, 12) });
    }),
  );
}

/** The rows of these testcases. */
export async function wantTestcases(
  db: Db,
  testcases: Testcase[],
  on: HostFile,
  jobYaml: string,
): Promise<(typeof testcase.$inferSelect)[]> {
  const rows: (typeof testcase.$inferSelect)[] = [];
  for (const one of testcases) rows.push(await wantTestcase(db, one, { jobYaml, deterministic: on.deterministic }));
  return rows;
}

/** Makes the host known, or brings its file's latest wording into its row. */
export async function wantHost(db: Db, file: HostFile): Promise<number> {
  const [row] = await db
    .insert(host)
    .values({ name: file.name, tboxGroup: file.tboxGroup, config: file })
    .onConflictDoUpdate({
      target: host.name,
      set: { tboxGroup: sql`excluded.tbox_group`, config: sql`excluded.config` },
    })
    .returning({ id: host.id });
  return (row as { id: number }).id;
}
