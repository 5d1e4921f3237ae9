import { gt } from 'drizzle-orm';
import pg from 'pg';
import type { Store } from './connect.ts';
import { event } from './schema.ts';

export type Event = typeof event.$inferSelect;

/**
 * Calls `onEvent` for every event from now on, in order, without gaps: after a broken connection what was missed is read
 * from the table. Returns a function that ends it.
 */
export async function listenEvents(store: Store, onEvent: (event: Event) => void): Promise<() => Promise<void>> {
  let ended = false;
  let client: pg.Client | null = null;
  let last = 0;
  let reading: Promise<void> = Promise.resolve();

  const readOn = () => {
    reading = reading.then(async () => {
      const rows = await store.db.select().from(event).where(gt(event.id, last)).orderBy(event.id).limit(1000);
      for (const row of rows) {
        last = row.id;
        if (!ended) onEvent(row);
      }
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
    next.on('notification', readOn);
    await next.connect();
    await next.query('listen kdelta_event');
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
