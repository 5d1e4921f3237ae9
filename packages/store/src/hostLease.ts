import { and, eq, isNull, lt, ne, or, sql } from 'drizzle-orm';
import { restartGraceMs, upFor } from './claimRow.ts';
import type { Db } from './connect.ts';
import { host } from './schema.ts';

export interface Lease {
  hostId: number;
  /** Grows with every lease of this host; whatever is done to the host is done under it. */
  epoch: number;
  owner: string;
}

/** Leases the host for one boot when nobody holds it or its holder is gone; null otherwise. `graceMs`: see restartGraceMs. */
export async function leaseHost(
  db: Db,
  hostId: number,
  bootId: number,
  owner: string,
  ttlMs: number,
  graceMs = restartGraceMs,
): Promise<Lease | null> {
  const rows = await db
    .update(host)
    .set({
      state: 'leased',
      epoch: sql`${host.epoch} + 1`,
      leaseOwner: owner,
      leaseUntil: sql`now() + ${ttlMs} * interval '1 millisecond'`,
      leaseBootId: bootId,
    })
    .where(
      and(
        eq(host.id, hostId),
        ne(host.state, 'quarantined'),
        ne(host.state, 'maintenance'),
        or(isNull(host.leaseOwner), and(lt(host.leaseUntil, sql`now()`), upFor(graceMs))),
      ),
    )
    .returning({ epoch: host.epoch });
  return rows[0] ? { hostId, epoch: rows[0].epoch, owner } : null;
}

/** Prolongs a lease; false when another epoch has begun. */
export async function renewLease(db: Db, lease: Lease, ttlMs: number): Promise<boolean> {
  const rows = await db
    .update(host)
    .set({ leaseUntil: sql`now() + ${ttlMs} * interval '1 millisecond'` })
    .where(and(eq(host.id, lease.hostId), eq(host.epoch, lease.epoch), eq(host.leaseOwner, lease.owner)))
    .returning({ id: host.id });
  return rows.length === 1;
}

/** Locks the host for the transaction if the lease is still ours; false when another epoch has begun. */
export async function lockLease(tx: Db, lease: Lease): Promise<boolean> {
  const rows = await tx
    .select({ id: host.id })
    .from(host)
    .where(and(eq(host.id, lease.hostId), eq(host.epoch, lease.epoch), eq(host.leaseOwner, lease.owner)))
    .for('update');
  return rows.length === 1;
}

/** So many boots in a row that failed through the host's own fault take a lab machine out, until a person looks at it. */
const failuresToQuarantine = 3;

/**
 * Gives the host back; nothing happens when another epoch has begun. `failed`: the host's own fault (class `infra`), which
 * counts towards quarantine; a good boot clears the count. A guest of QEMU is new each time and is never taken out. A host
 * that a person took out while it ran stays out.
 */
export async function releaseHost(db: Db, lease: Lease, outcome: 'good' | 'failed' | 'unknown'): Promise<void> {
  await db
    .update(host)
    .set({
      state: sql`case when ${host.state} in ('maintenance', 'quarantined') then ${host.state}
        when ${outcome} <> 'failed' then 'idle'
        when ${host.failures} + 1 >= ${failuresToQuarantine} and ${host.config}->'boot'->>'method' is distinct from 'qemu'
        then 'quarantined' else 'suspect' end`,
      leaseOwner: null,
      leaseUntil: null,
      leaseBootId: null,
      ...(outcome === 'good' ? { failures: 0 } : {}),
      ...(outcome === 'failed' ? { failures: sql`${host.failures} + 1` } : {}),
    })
    .where(and(eq(host.id, lease.hostId), eq(host.epoch, lease.epoch)));
}
