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

/** Pairs, newest first, with what a list shows of each; `before` is the id of the last one of the page before. */
export async function listPairs(db: Queryable, filter: PairFilter): Promise<PairRow[]> {
  return rows<PairRow>(
    db,
    'listPairs',
    `select p.id, t.name tree, p.branch, p.state, p.verdict, p.line, p.failure, p.testcase_id, c.name testcase, c.program,
            c.tbox_group, c.deterministic, b.sha base_sha, h.sha head_sha, b.id base_kernel_id, h.id head_kernel_id,
            k.subject head_subject, p.bisect_id, r.id report_id, p.planned_at, p.judged_at,
            coalesce(n.done, 0)::int boots_done, coalesce(n.open, 0)::int boots_open
       from pair p
       join testcase c on c.id = p.testcase_id
       join kernel b on b.id = p.base_kernel_id
       join kernel h on h.id = p.head_kernel_id
       left join tree t on t.id = p.tree_id
       left join commit k on k.sha = h.sha
       left join lateral (select id from report where pair_id = p.id order by id desc limit 1) r on true
       left join lateral (select count(*) filter (where state = 'done') done,
                                 count(*) filter (where state not in ('done','failed','cancelled')) open
                            from boot where pair_id = p.id) n on true
      where ($1::text is null or t.name = $1)
        and ($2::text is null or p.branch = $2)
        and ($3::text is null or p.verdict = $3)
        and ($4::text is null or p.state = $4)
        and ($5::text is null or c.program = $5)
        and ($6::text is null or c.tbox_group = $6)
        and ($7::int is null or p.testcase_id = $7)
        and ($8::text is null or b.sha = $8 or h.sha = $8)
        and ($9::int is null or p.id < $9)
      order by p.id desc
      limit $10`,
    [
      filter.tree ?? null,
      filter.branch ?? null,
      filter.verdict ?? null,
      filter.state ?? null,
      filter.program ?? null,
      filter.tbox_group ?? null,
      filter.testcase_id ?? null,
      filter.sha ?? null,
      filter.before ?? null,
      filter.limit,
    ],
  );
}
