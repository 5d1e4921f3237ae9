import { join } from 'node:path';
import { homeDir } from '@kdelta/home';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate } from 'drizzle-orm/node-postgres/migrator';
import type { Store } from './connect.ts';

/** Any number will do, as long as every kdelta takes the same. */
const migrationLock = 7_215_001;

/** Brings the database to the newest migration; several kdeltas starting at once take turns. */
export async function migrateStore(store: Store, folder: string = join(homeDir(), 'migrations')): Promise<void> {
  const client = await store.pool.connect();
  try {
    await client.query('set client_min_messages = warning');
    await client.query('select pg_advisory_lock($1)', [migrationLock]);
    await migrate(drizzle(client), { migrationsFolder: folder });
  } finally {
    await client.query('select pg_advisory_unlock($1)', [migrationLock]).catch(() => {});
    await client.query('reset client_min_messages').catch(() => {});
    client.release();
  }
}
