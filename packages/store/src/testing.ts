import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { homeDir, joinServices } from '@kdelta/home';
import pg from 'pg';
import { connectStore, type Store } from './connect.ts';
import { migrateStore } from './migrate.ts';

export interface TestDatabase {
  store: Store;
  url: string;
  /** The private Redis of the tests; take a key prefix of your own. */
  redisUrl: string;
  drop(): Promise<void>;
}

/**
 * A throw-away database with all tables, made from a template (some 50 ms). Postgres is the tests' own, started by
 * the first test that needs it, and stops a minute after the last.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const services = await joinServices({ state: join(homeDir(), '.kdelta', 'test'), env: {}, grace: 60 });
  const folder = join(homeDir(), 'migrations');
  const hash = createHash('sha256');
  for (const file of readdirSync(folder).sort())
    if (file.endsWith('.sql')) hash.update(readFileSync(join(folder, file)));
  const template = `template_${hash.digest('hex').slice(0, 16)}`;
  const name = `test_${randomBytes(8).toString('hex')}`;

  const admin = new pg.Client({ connectionString: services.databaseUrl });
  await admin.connect();
  try {
    // Also guards `create database … template`, which fails while another session is in the template.
    await admin.query('select pg_advisory_lock(7215002)');
    const { rowCount } = await admin.query('select 1 from pg_database where datname = $1', [template]);
    if (rowCount === 0) {
      await admin.query(`create database ${template}_new`).catch(() => {});
      const store = connectStore(urlOf(services.databaseUrl, `${template}_new`));
      await migrateStore(store);
      await store.close();
      await admin.query(`alter database ${template}_new rename to ${template}`);
    }
    await admin.query(`create database ${name} template ${template}`);
  } finally {
    await admin.end();
  }
  const url = urlOf(services.databaseUrl, name);
  const store = connectStore(url);
  return {
    store,
    url,
    redisUrl: services.redisUrl,
    async drop() {
      await store.close();
      const client = new pg.Client({ connectionString: services.databaseUrl });
      await client.connect();
      await client.query(`drop database if exists ${name} with (force)`);
      await client.end();
      await services.leave();
    },
  };
}

function urlOf(adminUrl: string, database: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${database}`;
  return url.href;
}
