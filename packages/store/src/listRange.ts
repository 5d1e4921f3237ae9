import { type Queryable, rows } from './query.ts';

export interface RangeCommit {
  sha: string;
  parents: string[];
  subject: string;
  author_name: string;
  committed_at: Date;
}

/**
 * The commits reachable from `bad` and not from `good`, newest first, as far as the store knows them; at most `limit`.
 * Walks parents breadth-first and stops at `good`, so a side branch that forked before `good` is followed to the limit only.
 */
export async function listRange(db: Queryable, good: string, bad: string, limit: number): Promise<RangeCommit[]> {
  return rows<RangeCommit>(
    db,
    'listRange',
    `with recursive bound as (select committed_at from commit where sha = $1),
     walk as (
       select sha, parents, 0 depth from commit where sha = $2
       union
       select c.sha, c.parents, w.depth + 1
         from walk w cross join lateral unnest(w.parents) p(sha) join commit c on c.sha = p.sha
        where p.sha <> $1 and w.depth < $3 and c.committed_at >= (select committed_at from bound)
     )
     select c.sha, c.parents, c.subject, c.author_name, c.committed_at
       from (select sha, max(depth) depth from walk group by sha) w join commit c on c.sha = w.sha
      where c.sha <> $1
      order by w.depth, c.committed_at desc limit $3`,
    [good, bad, limit],
  );
}
