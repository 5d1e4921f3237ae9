import { type Queryable, rows } from './query.ts';

/** Replaces a draft's recipients; false when there is no such draft. Who may be written to is checked when it is sent. */
export async function setReportRecipients(db: Queryable, id: number, to: string[], cc: string[]): Promise<boolean> {
  const changed = await rows(
    db,
    'setReportRecipients',
    `update report set "to" = $2, cc = $3 where id = $1 and state = 'draft' returning id`,
    [id, to, cc],
  );
  return changed.length > 0;
}
