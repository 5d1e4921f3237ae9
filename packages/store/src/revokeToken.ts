import { type Queryable, rows } from './query.ts';

/** Revokes a token by id or by its unique name; returns the ids that were revoked. */
export async function revokeToken(db: Queryable, idOrName: string): Promise<number[]> {
  const revoked = await rows<{ id: number }>(
    db,
    'revokeToken',
    'update api_token set revoked_at = now() where revoked_at is null and (id::text = $1 or name = $1) returning id',
    [idOrName],
  );
  return revoked.map((row) => row.id);
}
