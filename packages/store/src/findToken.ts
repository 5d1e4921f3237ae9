import { type Queryable, rows } from './query.ts';

export interface TokenRow {
  id: number;
  name: string;
  hash: string;
  scopes: string[];
  made_at: Date;
  expires_at: Date | null;
  revoked_at: Date | null;
  used_at: Date | null;
}

/** A token by the sha256 of its text, or by id; also expired and revoked ones: the caller says why it refuses. */
export async function findToken(db: Queryable, by: { hash: string } | { id: number }): Promise<TokenRow | null> {
  const one = 'id' in by;
  const [row] = await rows<TokenRow>(
    db,
    one ? 'findToken-id' : 'findToken-hash',
    `select id, name, hash, scopes, made_at, expires_at, revoked_at, used_at from api_token where ${one ? 'id = $1' : 'hash = $1'}`,
    [one ? by.id : by.hash],
  );
  return row ?? null;
}
