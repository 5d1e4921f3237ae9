import { drizzle, type NodePgDatabase, type NodePgQueryResultHKT } from 'drizzle-orm/node-postgres';
import type { PgDatabase } from 'drizzle-orm/pg-core';
import type pg from 'pg';
import { isConnectionError, PatientPool, type Waiting } from './patientPool.ts';
import * as schema from './schema.ts';

/** The database or a transaction on it: every query of this package takes either. */
export type Db = PgDatabase<NodePgQueryResultHKT, typeof schema>;

export interface Store {
  url: string;
  pool: pg.Pool;
  db: NodePgDatabase<typeof schema>;
  /**
   * Runs a transaction and, when the connection breaks under it, runs it again once the database is back. The outcome of
   * a COMMIT that was cut off is unknown, so `work` must find out by itself that it was done (a claim token does).
   */
  transact<T>(work: (tx: Db) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Connects to Postgres; queries wait while it is away, and `onWaiting` is told once a minute. */
export function connectStore(url: string, options: { onWaiting?: Waiting; maxConnections?: number } = {}): Store {
  const pool = new PatientPool(
    { connectionString: url, max: options.maxConnections ?? 10, idleTimeoutMillis: 30_000, allowExitOnIdle: true },
    options.onWaiting ?? (() => {}),
  );
  const db = drizzle(pool as unknown as pg.Pool, { schema });
  // drizzle's own sends BEGIN before its `try`: where that failed, it never gave the connection back to the pool.
  db.transaction = async (work, config) => {
    const client = await pool.connect();
    let broken = false;
    try {
      return await drizzle(client, { schema }).transaction(work, config);
    } catch (error) {
      broken = isConnectionError(error);
      throw error;
    } finally {
      client.release(broken);
    }
  };
  return {
    url,
    pool,
    db,
    async transact(work) {
      for (;;) {
        try {
          return await db.transaction((tx) => work(tx as unknown as Db));
        } catch (error) {
          if (!isConnectionError(error)) throw error;
        }
      }
    },
    async close() {
      pool.giveUp();
      await pool.end();
    },
  };
}

export { isConnectionError };
