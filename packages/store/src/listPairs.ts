import { type Queryable, rows } from './query.ts';
import type { Failure, PairState, VerdictName } from './schema.ts';

export interface PairRow {
  id: number;
  tree: string | null;
  branch: string | null;
  state: PairState;
  verdict: VerdictName | null;
  line: string | null;
  failure: Failure | null;
  testcase_id: number;
  testcase: string;
  program: string;
  tbox_group: string;
  deterministic: boolean;
  base_sha: string | null;
  head_sha: string | null;
  base_kernel_id: number;
  head_kernel_id: number;
  head_subject: string | null;
  bisect_id: number | null;
  report_id: number | null;
  planned_at: Date;
  judged_at: Date | null;
  boots_done: number;
  boots_open: number;
}

export interface PairFilter {
  tree?: string;
  branch?: string;
  verdict?: VerdictName;
  state?: PairState;
  program?: string;
  tbox_group?: string;
  testcase_id?: number;
  /** Full sha of base or head. */
  sha?: string;
  /** Pairs that start from a bisect's verification have no branch. */
  before?: number;
  limit: number;
}

/** Each filter's condition; only those that are set are in the statement. */
const CONDITIONS: Record<Exclude<keyof PairFilter, 'limit'>, (parameter: string) => string> = {
  tree: (x) => `p.tree_id = (select id from tree where name = ${x})`,
  branch: (x) => `p.branch = ${x}`,
  verdict: (x) => `p.verdict = ${x}`,
  state: (x) => `p.state = ${x}`,
  program: (x) => `p.testcase_id in (select id from testcase where program = ${x})`,
  tbox_group: (x) => `p.testcase_id in (select id from testcase where tbox_group = ${x})`,
  testcase_id: (x) => `p.testcase_id = ${x}`,
  sha: (x) =>
    `(p.base_kernel_id in (select id from kernel where sha = ${x}) or p.head_kernel_id in (select id from kernel where sha = ${x}))`,
  before: (x) => `p.id < ${x}`,
};

/**
 * Pairs, newest first, with what a list shows of each; `before` is the id of the last one of the page before. The rows are
 * chosen before anything is joined: with one statement for all filters (`$1 is null or …`) Postgres joined every pair there
 * is and cut then, 33 ms instead of 1 for 2,000 pairs.
 */
export async function listPairs(db: Queryable, filter: PairFilter): Promise<PairRow[]> {
  const set = (Object.keys(CONDITIONS) as (keyof typeof CONDITIONS)[]).filter((name) => filter[name] !== undefined);
  const conditions = set.map((name, i) => CONDITIONS[name](`$${i + 2}`));
  return rows<PairRow>(
    db,
    `listPairs ${set.join()}`,
    `select p.id, t.name tree, p.branch, p.state, p.verdict, p.line, p.failure, p.testcase_id, c.name testcase, c.program,
            c.tbox_group, c.deterministic, b.sha base_sha, h.sha head_sha, b.id base_kernel_id, h.id head_kernel_id,
            k.subject head_subject, p.bisect_id, r.id report_id, p.planned_at, p.judged_at,
            coalesce(n.done, 0)::int boots_done, coalesce(n.open, 0)::int boots_open
       from (select * from pair p ${conditions.length ? `where ${conditions.join(' and ')}` : ''}
              order by p.id desc limit $1) p
       join testcase c on c.id = p.testcase_id
       join kernel b on b.id = p.base_kernel_id
       join kernel h on h.id = p.head_kernel_id
       left join tree t on t.id = p.tree_id
       left join commit k on k.sha = h.sha
       left join lateral (select id from report where pair_id = p.id order by id desc limit 1) r on true
       left join lateral (select count(*) filter (where state = 'done') done,
                                 count(*) filter (where state not in ('done','failed','cancelled')) open
                            from boot where pair_id = p.id) n on true
      order by p.id desc`,
    [filter.limit, ...set.map((name) => filter[name])],
  );
}
