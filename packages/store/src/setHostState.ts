import { type Queryable, rows } from './query.ts';
import type { HostState } from './schema.ts';

/**
 * Takes a host out (`maintenance`: what it runs ends, nothing new starts) or brings it back (`idle`, failures forgotten).
 * Returns its id and the state before, or null when there is no such host or a boot holds it and it is to be brought back.
 */
export async function setHostState(
  db: Queryable,
  name: string,
  to: 'maintenance' | 'idle',
  note: string | null,
): Promise<{ id: number; before: HostState } | null> {
  const [row] = await rows<{ id: number; before: HostState }>(
    db,
    'setHostState',
    `update host h set state = $2, note = $3, failures = case when $2 = 'idle' then 0 else h.failures end
       from (select id, state from host where name = $1 for update) o
      where h.id = o.id and ($2 = 'maintenance' or o.state <> 'leased')
     returning h.id, o.state before`,
    [name, to, note],
  );
  return row ?? null;
}
