import { type Queryable, rows } from './query.ts';

export interface ArtifactRow {
  id: number;
  name: string;
  sha256: string;
  bytes: number;
}

/** The files kept for a boot, kernel or report, by name. */
export async function listArtifacts(
  db: Queryable,
  owner: { bootId: number } | { kernelId: number } | { reportId: number },
): Promise<ArtifactRow[]> {
  const [column, id] =
    'bootId' in owner
      ? ['boot_id', owner.bootId]
      : 'kernelId' in owner
        ? ['kernel_id', owner.kernelId]
        : ['report_id', owner.reportId];
  return rows<ArtifactRow>(
    db,
    `listArtifacts-${column}`,
    `select id, name, sha256, bytes::float8 bytes from artifact where ${column} = $1 order by name, id`,
    [id],
  );
}
