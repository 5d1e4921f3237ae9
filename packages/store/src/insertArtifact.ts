import type { Stored } from './artifacts.ts';
import type { Db } from './connect.ts';
import { artifact } from './schema.ts';

/** Names a stored content as a file of a boot, kernel or report. */
export async function insertArtifact(
  db: Db,
  of: { bootId: number } | { kernelId: number } | { reportId: number },
  name: string,
  stored: Stored,
): Promise<void> {
  await db.insert(artifact).values({ ...of, name, sha256: stored.sha256, bytes: stored.bytes });
}
