import { createHash, randomBytes } from 'node:crypto';
import { type Queryable, rows } from './query.ts';

/** sha256 of a token's text, in hex: all that is kept of it. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** Makes a token (`kd_` and 43 characters, 256 random bits) and keeps its hash; the text is returned here and never again. */
export async function makeToken(
  db: Queryable,
  wanted: { name: string; scopes: string[]; expiresAt: Date | null },
): Promise<{ id: number; token: string }> {
  const token = `kd_${randomBytes(32).toString('base64url')}`;
  const [row] = await rows<{ id: number }>(
    db,
    'makeToken',
    'insert into api_token (name, hash, scopes, expires_at) values ($1, $2, $3, $4) returning id',
    [wanted.name, hashToken(token), wanted.scopes, wanted.expiresAt],
  );
  return { id: row!.id, token };
}
