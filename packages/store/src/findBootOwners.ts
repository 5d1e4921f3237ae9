import { type Queryable, rows } from './query.ts';

/** The pair and bisect that a boot was asked for by. */
export async function findBootOwners(
  db: Queryable,
  bootId: number,
): Promise<{ pair_id: number | null; bisect_id: number | null } | null> {
  const [row] = await rows<{ pair_id: number | null; bisect_id: number | null }>(
    db,
    'findBootOwners',
    'select pair_id, bisect_id from boot where id = $1',
    [bootId],
  );
  return row ?? null;
}
