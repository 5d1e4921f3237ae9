import type { TokenRow } from './findToken.ts';
import { type Queryable, rows } from './query.ts';

/** Every token that was made, newest first, without anything that could be used as one. */
export async function listTokens(db: Queryable): Promise<Omit<TokenRow, 'hash'>[]> {
  return rows(
    db,
    'listTokens',
    'select id, name, scopes, made_at, expires_at, revoked_at, used_at from api_token order by id desc',
  );
}
