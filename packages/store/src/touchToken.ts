import { type Queryable, rows } from './query.ts';

/** Notes that a token was used, at most once a minute. */
export async function touchToken(db: Queryable, id: number): Promise<void> {
  await rows(
    db,
    'touchToken',
    `update api_token set used_at = now() where id = $1 and (used_at is null or used_at < now() - interval '1 minute')`,
    [id],
  );
}
