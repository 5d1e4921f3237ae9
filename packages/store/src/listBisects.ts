import { type Queryable, rows } from './query.ts';
import type { BisectState } from './schema.ts';

export interface BisectRow {
  id: number;
  tree: string;
  testcase: string;
  tbox_group: string;
  metric: string;
  pair_id: number | null;
  state: BisectState;
  good_sha: string;
  bad_sha: string;
  culprit_sha: string | null;
  culprit_subject: string | null;
  certainty: number;
  /** Largest posterior so far, 0…1. */
  best: number | null;
  boots_done: number;
  budget: number;
  asked_by: string;
  asked_at: Date;
  ended_at: Date | null;
}

/** Bisects, newest first; `open` keeps those that still run or wait. */
export async function listBisects(
  db: Queryable,
  filter: { tree?: string; state?: BisectState; open?: boolean; before?: number; limit: number },
): Promise<BisectRow[]> {
  return rows<BisectRow>(
    db,
    'listBisects',
    `select s.id, t.name tree, c.name testcase, c.tbox_group, m.name metric, s.pair_id, s.state, s.good_sha, s.bad_sha,
            s.culprit_sha, k.subject culprit_subject, s.certainty, s.budget, s.asked_by, s.asked_at, s.ended_at,
            (select max(value::float8) from jsonb_each_text(coalesce(s.posterior, '{}'))) best,
            (select count(*)::int from boot where bisect_id = s.id and state in ('done','failed')) boots_done
       from bisect s
       join tree t on t.id = s.tree_id
       join testcase c on c.id = s.testcase_id
       join metric m on m.id = s.metric_id
       left join commit k on k.sha = s.culprit_sha
      where ($1::text is null or t.name = $1)
        and ($2::text is null or s.state = $2)
        and (not $3::bool or s.state in ('wanted','running','paused','verifying'))
        and ($4::int is null or s.id < $4)
      order by s.id desc limit $5`,
    [filter.tree ?? null, filter.state ?? null, filter.open ?? false, filter.before ?? null, filter.limit],
  );
}
