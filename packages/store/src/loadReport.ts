import { type Queryable, rows } from './query.ts';
import type { ReportState } from './schema.ts';

export interface ReportDetail {
  id: number;
  kind: 'regression' | 'improvement' | 'build' | 'boot';
  state: ReportState;
  tree: string;
  culprit_sha: string;
  culprit_subject: string | null;
  culprit_author: string | null;
  bisect_id: number | null;
  pair_id: number | null;
  judgement_id: number | null;
  subject: string;
  body: string;
  to: string[];
  cc: string[];
  dropped: { address: string; why: string }[];
  note: string | null;
  message_id: string;
  created_at: Date;
  state_at: Date;
  outbox_state: string | null;
  response: string | null;
  sent_at: Date | null;
}

/** One report with its mail's fate; null when there is none with this id. */
export async function loadReport(db: Queryable, id: number): Promise<ReportDetail | null> {
  const [row] = await rows<ReportDetail>(
    db,
    'loadReport',
    `select r.id, r.kind, r.state, t.name tree, r.culprit_sha, c.subject culprit_subject, c.author_name culprit_author,
            r.bisect_id, r.pair_id, r.judgement_id, r.subject, r.body, r."to", r.cc, r.dropped, r.note, r.message_id,
            r.created_at, r.state_at, o.state outbox_state, o.response, o.sent_at
       from report r join tree t on t.id = r.tree_id
       left join commit c on c.sha = r.culprit_sha
       left join lateral (select state, response, sent_at from outbox where report_id = r.id order by id desc limit 1) o on true
      where r.id = $1`,
    [id],
  );
  return row ?? null;
}
