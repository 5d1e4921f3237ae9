import { type Queryable, rows } from './query.ts';
import type { BisectState, Failure } from './schema.ts';

export interface BisectDetail {
  id: number;
  tree: string;
  tree_url: string;
  good_sha: string;
  bad_sha: string;
  testcase_id: number;
  testcase: string;
  testcase_key: string;
  program: string;
  tbox_group: string;
  deterministic: boolean;
  metric: string;
  pair_id: number | null;
  state: BisectState;
  budget: number;
  certainty: number;
  posterior: Record<string, number> | null;
  untestable: Record<string, string> | null;
  culprit_sha: string | null;
  culprit_subject: string | null;
  culprit_author: string | null;
  result: Record<string, unknown> | null;
  verify_pair_id: number | null;
  failure: Failure | null;
  asked_by: string;
  asked_at: Date;
  ended_at: Date | null;
  report_id: number | null;
  boots_done: number;
  boots_open: number;
}

/** One bisect with its range, metric, result and cost so far; null when there is none with this id. */
export async function loadBisect(db: Queryable, id: number): Promise<BisectDetail | null> {
  const [row] = await rows<BisectDetail>(
    db,
    'loadBisect',
    `select s.id, t.name tree, t.url tree_url, s.good_sha, s.bad_sha, s.testcase_id, c.name testcase, c.key testcase_key,
            c.program, c.tbox_group, c.deterministic, m.name metric, s.pair_id, s.state, s.budget, s.certainty, s.posterior,
            s.untestable, s.culprit_sha, k.subject culprit_subject, k.author_name culprit_author, s.result,
            s.verify_pair_id, s.failure, s.asked_by, s.asked_at, s.ended_at, r.id report_id,
            n.done::int boots_done, n.open::int boots_open
       from bisect s
       join tree t on t.id = s.tree_id
       join testcase c on c.id = s.testcase_id
       join metric m on m.id = s.metric_id
       left join commit k on k.sha = s.culprit_sha
       left join lateral (select id from report where bisect_id = s.id order by id desc limit 1) r on true
       left join lateral (select count(*) filter (where state in ('done','failed')) done,
                                 count(*) filter (where state not in ('done','failed','cancelled')) open
                            from boot where bisect_id = s.id) n on true
      where s.id = $1`,
    [id],
  );
  return row ?? null;
}
