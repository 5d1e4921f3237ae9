import { type Queryable, rows } from './query.ts';

/** Makes a tree's next fetch due now; returns its id, or null when there is no active tree of that name. */
export async function pokeTree(db: Queryable, name: string): Promise<number | null> {
  const [row] = await rows<{ id: number }>(
    db,
    'pokeTree',
    `update tree set next_fetch_at = now() where name = $1 and active returning id`,
    [name],
  );
  return row?.id ?? null;
}
