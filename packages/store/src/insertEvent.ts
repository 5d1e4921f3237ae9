import { sql } from 'drizzle-orm';
import type { NewEvent } from './appendEvent.ts';
import type { Db } from './connect.ts';

/** appendEvent within a drizzle transaction: adds to the audit trail and tells who listens on `kdelta_event`, when the transaction commits. Returns the event's id. */
export async function insertEvent(db: Db, event: NewEvent): Promise<number> {
  const { rows } = await db.execute<{ id: string }>(sql`
    with added as (
      insert into event (kind, subject, actor, data)
      values (${event.kind}, ${event.subject}, ${event.actor ?? 'kdelta'}, ${JSON.stringify(event.data ?? {})}::jsonb)
      returning id
    )
    select id, pg_notify('kdelta_event', id::text) from added`);
  return Number(rows[0]?.id);
}

/** Tells open pages of `subject` (`boot:12`) that its progress has moved on: nothing that the audit trail should keep. */
export async function notifyProgress(db: Db, subject: string): Promise<void> {
  await db.execute(sql`select pg_notify('kdelta_progress', ${subject})`);
}
