import { type Queryable, rows } from './query.ts';

export interface CommitRow {
  sha: string;
  parents: string[];
  author_name: string;
  author_email: string;
  committer_name: string;
  authored_at: Date;
  committed_at: Date;
  subject: string;
  body: string;
}

/** Commits whose sha begins with `prefix` (hex digits only), at most `limit`. */
export async function findCommits(db: Queryable, prefix: string, limit = 5): Promise<CommitRow[]> {
  // The range, and not LIKE, uses the primary key in any collation that sorts hex digits in order.
  return rows<CommitRow>(
    db,
    'findCommits',
    `select sha, parents, author_name, author_email, committer_name, authored_at, committed_at, subject, body
       from commit where sha >= $1 and sha < $1 || 'g' order by sha limit $2`,
    [prefix, limit],
  );
}
