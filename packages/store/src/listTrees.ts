import { type Queryable, rows } from './query.ts';

export interface TreeRow {
  id: number;
  name: string;
  url: string;
  config: unknown;
  active: boolean;
  fetched_at: Date | null;
  fetch_error: string | null;
  fetch_failures: number;
  next_fetch_at: Date;
  heads: { branch: string; sha: string; subject: string | null; seen_at: string; state: string; note: string | null }[];
}

/** Every tree with the newest head of each of its branches. */
export async function listTrees(db: Queryable): Promise<TreeRow[]> {
  return rows<TreeRow>(
    db,
    'listTrees',
    `select t.id, t.name, t.url, t.config, t.active, t.fetched_at, t.fetch_error, t.fetch_failures, t.next_fetch_at,
            coalesce((select json_agg(x order by x.branch) from (
              select distinct on (h.branch) h.branch, h.sha, c.subject, h.seen_at, h.state, h.note
                from branch_head h left join commit c on c.sha = h.sha
               where h.tree_id = t.id order by h.branch, h.id desc) x), '[]') heads
       from tree t order by t.name`,
  );
}
