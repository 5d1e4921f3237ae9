import type { Db } from './connect.ts';
import { commit } from './schema.ts';

/** Keeps commits; those that are known already stay as they are. */
export async function recordCommits(db: Db, commits: (typeof commit.$inferInsert)[]): Promise<void> {
  for (let at = 0; at < commits.length; at += 500)
    await db
      .insert(commit)
      .values(commits.slice(at, at + 500))
      .onConflictDoNothing();
}
