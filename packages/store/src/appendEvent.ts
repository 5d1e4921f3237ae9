import { type Queryable, rows } from './query.ts';

export interface NewEvent {
  /** `report.approve`, `tree.poke`, `host.take-out` … */
  kind: string;
  /** `boot:12`, `pair:3` … */
  subject: string;
  /** Who did it: `kdelta`, or `token:<name>`. */
  actor?: string;
  data?: Record<string, unknown>;
}

/** Writes a line of the audit trail and tells open pages (NOTIFY kdelta_event); returns its id. */
export async function appendEvent(db: Queryable, event: NewEvent): Promise<number> {
  const [row] = await rows<{ id: string }>(
    db,
    'appendEvent',
    `with e as (insert into event (kind, subject, actor, data) values ($1, $2, $3, $4) returning id)
     select id, pg_notify('kdelta_event', id::text) from e`,
    [event.kind, event.subject, event.actor ?? 'kdelta', JSON.stringify(event.data ?? {})],
  );
  return Number(row!.id);
}
