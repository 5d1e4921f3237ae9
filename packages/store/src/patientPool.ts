import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** Told at once and then once a minute while a server is away, and once when it is back. */
export type Waiting = (state: { away: true; error: Error; seconds: number } | { away: false; seconds: number }) => void;

type ConnectCallback = (error: Error | undefined, client?: pg.PoolClient, done?: (release?: unknown) => void) => void;

/**
 * A pool whose `connect` waits while Postgres is away (restarting, not yet there) instead of failing. Nothing was sent
 * before a connection stands, so waiting is always safe; a query that is cut off in the middle does fail.
 */
export class PatientPool extends pg.Pool {
  readonly #onWaiting: Waiting;
  #away: { since: number; told: number } | null = null;
  #givenUp = false;

  constructor(config: pg.PoolConfig, onWaiting: Waiting) {
    super(config);
    this.#onWaiting = onWaiting;
    // An idle connection that breaks is only removed; without a listener it would end the process.
    this.on('error', () => {});
    this.on('connect', (client) => client.on('error', () => {}));
  }

  /** Stops waiting: what waits fails with the last error. */
  giveUp(): void {
    this.#givenUp = true;
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<pg.PoolClient> | undefined {
    const connected = this.#patientConnect();
    if (!callback) return connected;
    connected.then(
      (client) => callback(undefined, client, client.release as (release?: unknown) => void),
      (error: Error) => callback(error, undefined, () => {}),
    );
  }

  async #patientConnect(): Promise<pg.PoolClient> {
    for (;;) {
      try {
        const client = await super.connect();
        if (this.#away) {
          this.#onWaiting({ away: false, seconds: Math.round((Date.now() - this.#away.since) / 1000) });
          this.#away = null;
        }
        return client;
      } catch (error) {
        if (this.#givenUp || !isConnectionError(error)) throw error;
        this.#tell(error as Error);
        await sleep(500);
      }
    }
  }

  #tell(error: Error): void {
    const now = Date.now();
    this.#away ??= { since: now, told: 0 };
    if (now - this.#away.told < 60_000) return;
    this.#away.told = now;
    this.#onWaiting({ away: true, error, seconds: Math.round((now - this.#away.since) / 1000) });
  }
}

const goneCodes = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOENT', 'EHOSTUNREACH', 'EAI_AGAIN']);

/**
 * Whether `error` (or its cause) says that the server went away or isn't there yet, not that the query is wrong:
 * SQLSTATE classes 08 (connection) and 57P (shutdown, start-up), socket errors, and pg's own words for a cut connection.
 */
export function isConnectionError(error: unknown): boolean {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const code = (at as { code?: unknown }).code;
    if (typeof code === 'string' && (goneCodes.has(code) || /^(08|57P0[1-5])/.test(code))) return true;
    if (/^(Connection terminated|Client has encountered a connection error|timeout expired)/.test(at.message))
      return true;
  }
  return false;
}
