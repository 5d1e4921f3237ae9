import { randomUUID } from 'node:crypto';
import { and, eq, getTableColumns, type InferSelectModel, inArray, isNull, lt, sql } from 'drizzle-orm';
import type { Db } from './connect.ts';
import type { bisect, boot, branchHead, kernel, outbox, pair } from './schema.ts';

/** Tables whose rows ask for work. */
export type ClaimTable = typeof branchHead | typeof kernel | typeof boot | typeof pair | typeof bisect | typeof outbox;
export type RowOf<T extends ClaimTable> = InferSelectModel<T>;
export type StateOf<T extends ClaimTable> = RowOf<T> extends { state: infer S extends string } ? S : never;

/** All claimable tables look like this one, as far as a claim goes. */
const asAny = (table: ClaimTable) => table as unknown as typeof pair;

/**
 * While Postgres was away nobody could prolong anything. For this long after its start expired claims and leases stand,
 * so that their holders, who live, can say so.
 */
export const restartGraceMs = 20_000;

export function upFor(ms: number) {
  return sql`pg_postmaster_start_time() < now() - ${ms} * interval '1 millisecond'`;
}

/**
 * Claims the row when it is in one of the states `from` and nobody holds it; null otherwise. A claim that has expired still
 * holds until `takeBackClaims` ends it. The clock is the database's.
 */
export async function claimRow<T extends ClaimTable>(
  db: Db,
  table: T,
  id: number,
  claim: { from: StateOf<T>[]; to?: StateOf<T>; ttlMs: number },
): Promise<{ row: RowOf<T>; token: string } | null> {
  const t = asAny(table);
  const token = randomUUID();
  const rows = await db
    .update(t)
    .set({
      claim: token,
      claimUntil: sql`now() + ${claim.ttlMs} * interval '1 millisecond'`,
      ...(claim.to === undefined ? {} : { state: claim.to as 'planned' }),
    })
    .where(and(eq(t.id, id), inArray(t.state, claim.from as 'planned'[]), isNull(t.claim)))
    .returning(getTableColumns(t));
  const row = rows[0];
  return row ? { row: row as unknown as RowOf<T>, token } : null;
}

/** Prolongs a claim; false when it isn't ours any more. */
export async function renewClaim(
  db: Db,
  table: ClaimTable,
  id: number,
  token: string,
  ttlMs: number,
): Promise<boolean> {
  const t = asAny(table);
  const rows = await db
    .update(t)
    .set({ claimUntil: sql`now() + ${ttlMs} * interval '1 millisecond'` })
    .where(and(eq(t.id, id), eq(t.claim, token)))
    .returning({ id: t.id });
  return rows.length === 1;
}

/** Locks the row for the transaction if the claim is still ours; null otherwise. */
export async function lockClaimed<T extends ClaimTable>(
  tx: Db,
  table: T,
  id: number,
  token: string,
): Promise<RowOf<T> | null> {
  const t = asAny(table);
  const rows = await tx
    .select()
    .from(t)
    .where(and(eq(t.id, id), eq(t.claim, token)))
    .for('update');
  return (rows[0] as unknown as RowOf<T>) ?? null;
}

/** Gives a claim up: the row may be claimed again, in `state` if given, not before `delayMs`. */
export async function releaseClaim<T extends ClaimTable>(
  db: Db,
  table: T,
  id: number,
  token: string,
  release: { state?: StateOf<T>; countAttempt?: boolean } = {},
): Promise<boolean> {
  const t = asAny(table);
  const rows = await db
    .update(t)
    .set({
      claim: null,
      claimUntil: null,
      ...(release.state === undefined ? {} : { state: release.state as 'planned' }),
      ...(release.countAttempt ? { attempt: sql`${t.attempt} + 1` } : {}),
    })
    .where(and(eq(t.id, id), eq(t.claim, token)))
    .returning({ id: t.id });
  return rows.length === 1;
}

/**
 * Takes back claims whose holder is gone (`claim_until` has passed) on rows in `states`; they get `backTo` as their state
 * and a new attempt number, so that they can be queued again. Returns their ids. `graceMs`: see restartGraceMs.
 */
export async function takeBackClaims<T extends ClaimTable>(
  db: Db,
  table: T,
  states: StateOf<T>[],
  backTo?: StateOf<T>,
  graceMs = restartGraceMs,
): Promise<number[]> {
  const t = asAny(table);
  const rows = await db
    .update(t)
    .set({
      claim: null,
      claimUntil: null,
      attempt: sql`${t.attempt} + 1`,
      ...(backTo === undefined ? {} : { state: backTo as 'planned' }),
    })
    .where(and(inArray(t.state, states as 'planned'[]), lt(t.claimUntil, sql`now()`), upFor(graceMs)))
    .returning({ id: t.id });
  return rows.map((row) => row.id);
}
