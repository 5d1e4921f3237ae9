import { type Queryable, rows } from './query.ts';
import type { ReportState } from './schema.ts';

export interface ReportRow {
  id: number;
  kind: string;
  state: ReportState;
  tree: string;
  culprit_sha: string;
  subject: string;
  to: string[];
  cc: string[];
  pair_id: number | null;
  bisect_id: number | null;
  note: string | null;
  created_at: Date;
  state_at: Date;
}

/** Reports, newest first, without their bodies. */
export async function listReports(
  db: Queryable,
  filter: { tree?: string; state?: ReportState; sha?: string; before?: number; limit: number },
): Promise<ReportRow[]> {
  return rows<ReportRow>(
    db,
    'listReports',
    `select r.id, r.kind, r.state, t.name tree, r.culprit_sha, r.subject, r."to", r.cc, r.pair_id, r.bisect_id, r.note,
            r.created_at, r.state_at
       from report r join tree t on t.id = r.tree_id
      where ($1::text is null or t.name = $1)
        and ($2::text is null or r.state = $2)
        and ($3::text is null or r.culprit_sha = $3)
        and ($4::int is null or r.id < $4)
      order by r.id desc limit $5`,
    [filter.tree ?? null, filter.state ?? null, filter.sha ?? null, filter.before ?? null, filter.limit],
  );
}
