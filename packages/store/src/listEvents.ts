import { type Queryable, rows } from './query.ts';

export interface EventRow {
  id: number;
  at: Date;
  kind: string;
  subject: string;
  actor: string;
  data: Record<string, unknown>;
}

/** The audit trail, newest first, of one subject (`report:3`) or of all; `after` gives what open pages missed, oldest first. */
export async function listEvents(
  db: Queryable,
  filter: { subject?: string; kind?: string; after?: number; before?: number; limit: number },
): Promise<EventRow[]> {
  return rows<EventRow>(
    db,
    filter.after === undefined ? 'listEvents' : 'listEvents-after',
    `select id::float8 id, at, kind, subject, actor, data from event
      where ($1::text is null or subject = $1) and ($2::text is null or kind = $2)
        and ($3::bigint is null or id > $3) and ($4::bigint is null or id < $4)
      order by event.id ${filter.after === undefined ? 'desc' : 'asc'} limit $5`,
    [filter.subject ?? null, filter.kind ?? null, filter.after ?? null, filter.before ?? null, filter.limit],
  );
}

/** Id of the newest event; 0 when there is none. */
export async function newestEvent(db: Queryable): Promise<number> {
  const [row] = await rows<{ id: string | null }>(db, 'newestEvent', 'select max(id) id from event');
  return Number(row?.id ?? 0);
}
