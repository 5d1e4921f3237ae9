import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ClaimTable,
  claimRow,
  type Db,
  isConnectionError,
  lockClaimed,
  type RowOf,
  releaseClaim,
  renewClaim,
  type StateOf,
  StoreError,
} from '@kdelta/store';
import { eq, sql } from 'drizzle-orm';
import type { Next, StepContext } from './context.ts';

/** How long a claim lasts without a sign of life of its holder, and so how long a killed worker's row waits. */
export const claimTtlMs = 30_000;

/** Not now, through no fault of ours or of the row: it is tried again after a growing pause. */
export class TryAgain extends Error {}

/** What a step holds while it works on a row. */
export interface Claimed<T extends ClaimTable> {
  row: RowOf<T>;
  token: string;
  /** Fires when the claim is lost or the program ends. */
  signal: AbortSignal;
  /**
   * The last write: one transaction, run only if the claim is still ours, which also ends the claim; then the rows that
   * `write` returns are queued. When the claim is lost nothing is written and KD_CLAIM_LOST is thrown.
   * `write` may run more than once (a connection that breaks in COMMIT), each time on what is really there.
   */
  finish(write: (tx: Db, row: RowOf<T>) => Promise<Next[]>): Promise<void>;
}

/**
 * Claims row `id` of `table` and runs `work` on it; does nothing when the row isn't in one of `from` or is held by another.
 * The claim is kept alive while `work` runs. When `work` throws, the row goes back to its former state: at once when the
 * program ends, after a growing pause when it threw TryAgain or it is our fault (class `bug`); of these, `maxAttempts` end with
 * `onBug`, which writes the row off.
 */
export async function withClaim<T extends ClaimTable>(
  ctx: StepContext,
  table: T,
  id: number,
  claim: {
    from: StateOf<T>[];
    to?: StateOf<T>;
    ttlMs?: number;
    maxAttempts?: number;
    onBug?: (tx: Db, row: RowOf<T>, error: Error) => Promise<Next[]>;
  },
  work: (claimed: Claimed<T>) => Promise<void>,
): Promise<void> {
  const ttlMs = claim.ttlMs ?? ctx.claimTtlMs ?? claimTtlMs;
  const got = await claimRow(ctx.db, table, id, { from: claim.from, to: claim.to, ttlMs });
  if (!got) return;
  const { row, token } = got;
  const back = claim.to === undefined ? {} : { state: claim.from[0] as StateOf<T> };
  const lost = new AbortController();
  const signal = AbortSignal.any([ctx.signal, lost.signal]);
  const heart = keepAlive(async () => {
    if (!(await renewClaim(ctx.db, table, id, token, ttlMs)))
      lost.abort(new StoreError('KD_CLAIM_LOST', `another worker has taken over row ${id}`));
  }, ttlMs / 3);

  let finished = false;
  const finish = async (write: (tx: Db, row: RowOf<T>) => Promise<Next[]>) => {
    const next = await ctx.store.transact(async (tx) => {
      const mine = await lockClaimed(tx, table, id, token);
      if (!mine) {
        // Cut off in COMMIT: our own transaction may have gone through and ended the claim.
        if (finished) return [];
        throw new StoreError('KD_CLAIM_LOST', `another worker has taken over row ${id}; its work stands`);
      }
      const rows = await write(tx, mine);
      await releaseClaim(tx, table, id, token);
      finished = true;
      return rows;
    });
    await ctx.enqueue(next);
  };

  try {
    await work({ row, token, signal, finish });
    if (!finished) await releaseClaim(ctx.db, table, id, token, back);
  } catch (error) {
    const bindings = { table: tableName(table), id, err: error };
    if (lost.signal.aborted || (error instanceof StoreError && error.code === 'KD_CLAIM_LOST')) {
      ctx.log.warn(bindings, 'claim lost; the work is thrown away');
    } else if (ctx.signal.aborted) {
      await releaseClaim(ctx.db, table, id, token, back).catch(() => {});
    } else if (isConnectionError(error)) {
      ctx.log.warn(bindings, 'the database went away in the middle of a step; it will run again');
      await releaseClaim(ctx.db, table, id, token, { ...back, countAttempt: true });
    } else if (error instanceof TryAgain) {
      ctx.log.warn({ ...bindings, attempt: row.attempt }, 'a step is put off');
      await pause(ctx.db, table, id, token, Math.min(5_000 * 4 ** (row.attempt ?? 0), 600_000));
    } else {
      ctx.log.error({ ...bindings, attempt: row.attempt }, 'bug in a step');
      if ((row.attempt ?? 0) + 1 >= (claim.maxAttempts ?? 4) && claim.onBug) {
        const onBug = claim.onBug;
        await finish((tx, mine) => onBug(tx, mine, error as Error));
      } else await pause(ctx.db, table, id, token, Math.min(5_000 * 4 ** (row.attempt ?? 0), 600_000));
    }
  } finally {
    heart();
  }
}

/** Runs `beat` every `everyMs` until the returned function is called; a beat that fails is tried again at the next. */
export function keepAlive(beat: () => Promise<void>, everyMs: number): () => void {
  const end = new AbortController();
  void (async () => {
    while (!end.signal.aborted) {
      await sleep(everyMs, undefined, { signal: end.signal, ref: false }).catch(() => {});
      if (!end.signal.aborted) await beat().catch(() => {});
    }
  })();
  return () => end.abort();
}

/** Lets the claim stand, with nobody alive behind it, until the pause is over: the reconciler then takes the row back. */
async function pause(db: Db, table: ClaimTable, id: number, token: string, ms: number): Promise<void> {
  await renewClaim(db, table, id, token, ms);
}

function tableName(table: ClaimTable): string {
  return (table as unknown as Record<symbol, string>)[Symbol.for('drizzle:Name')] ?? 'row';
}

/** Condition for `due`: the row is held by nobody. */
export function unclaimed(table: ClaimTable) {
  return sql`${table.claim} is null`;
}

/** Condition for `due`: this row only, when an id is given. */
export function only(table: ClaimTable, id: number | undefined) {
  return id === undefined ? undefined : eq(table.id, id);
}
