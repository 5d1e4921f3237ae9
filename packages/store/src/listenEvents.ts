import { gt, inArray, or } from 'drizzle-orm';
import pg from 'pg';
import type { Store } from './connect.ts';
import { event } from './schema.ts';

export type Event = typeof event.$inferSelect;

/**
 * Calls `onEvent` once for every event from now on, in the order in which they were committed, without gaps: after a broken connection what was missed is read
 * from the table. `onProgress` is told the subject of each `notifyProgress`; of those some may be missed. Returns a
 * function that ends it.
 */
export async function listenEvents(
  store: Store,
  onEvent: (event: Event) => void,
  onProgress?: (subject: string) => void,
): Promise<() => Promise<void>> {
  let ended = false;
  let client: pg.Client | null = null;
  let last = 0;
  // A transaction that takes its id early and commits late brings an event below `last`; its notification names it.
  const named = new Set<number>();
  let heard = new Set<number>();
  let reading: Promise<void> = Promise.resolve();

  const readOn = () => {
    reading = reading.then(async () => {
      const told = [...named];
      const late = told.filter((id) => id <= last && !heard.has(id));
      const rows = await store.db
        .select()
        .from(event)
        .where(late.length ? or(gt(event.id, last), inArray(event.id, late)) : gt(event.id, last))
        .orderBy(event.id)
        .limit(1000);
      // Only now: what a broken connection kept from being read is asked for again.
      for (const id of told) named.delete(id);
      for (const row of rows) {
        last = Math.max(last, row.id);
        heard.add(row.id);
        if (!ended) onEvent(row);
      }
      if (heard.size > 10_000) heard = new Set([...heard].slice(-5000));
      if (rows.length === 1000) readOn();
    });
    reading = reading.catch(() => {});
  };

  const connect = async (): Promise<void> => {
    const next = new pg.Client({ connectionString: store.url });
    next.on('error', () => {});
    next.on('end', () => {
      if (!ended && client === next) setTimeout(() => void reconnect(), 500);
    });
    next.on('notification', ({ channel, payload }) => {
      if (channel === 'kdelta_event') {
        if (payload) named.add(Number(payload));
        readOn();
      } else if (payload) onProgress?.(payload);
    });
    await next.connect();
    await next.query('listen kdelta_event');
    if (onProgress) await next.query('listen kdelta_progress');
    client = next;
  };
  const reconnect = async (): Promise<void> => {
    if (ended) return;
    try {
      await connect();
      readOn();
    } catch {
      setTimeout(() => void reconnect(), 500);
    }
  };

  const { rows } = await store.pool.query<{ id: string | null }>('select max(id) as id from event');
  last = Number(rows[0]?.id ?? 0);
  await reconnect();
  return async () => {
    ended = true;
    await reading;
    await client?.end().catch(() => {});
  };
}
