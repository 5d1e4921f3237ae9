import type { Testcase } from '@kdelta/jobs';
import { eq } from 'drizzle-orm';
import type { Db } from './connect.ts';
import { testcase } from './schema.ts';

/** The testcase's row, by its key; made where it is new. */
export async function wantTestcase(
  db: Db,
  wanted: Testcase,
  more: { jobYaml: string; deterministic: boolean },
): Promise<typeof testcase.$inferSelect> {
  const { key, name, program, tboxGroup, params, versions } = wanted;
  const [made] = await db
    .insert(testcase)
    .values({ key, name, program, tboxGroup, params, versions, job: wanted, ...more })
    .onConflictDoNothing()
    .returning();
  if (made) return made;
  // How many boots and how long isn't part of the key: the latest word counts.
  const [known] = await db
    .update(testcase)
    .set({ job: wanted, jobYaml: more.jobYaml })
    .where(eq(testcase.key, key))
    .returning();
  return known as typeof testcase.$inferSelect;
}
