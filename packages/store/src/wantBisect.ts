import { type Queryable, rows } from './query.ts';

export interface WantedBisect {
  tree: string;
  good: string;
  bad: string;
  testcaseId: number;
  metric: string;
  pairId: number | null;
  budget: number;
  certainty: number;
  askedBy: string;
}

/** Records a bisect that someone asks for, in state `wanted`; returns its id, or null when tree or metric are unknown. */
export async function wantBisect(db: Queryable, wanted: WantedBisect): Promise<number | null> {
  const [row] = await rows<{ id: number }>(
    db,
    'wantBisect',
    `insert into bisect (tree_id, good_sha, bad_sha, testcase_id, metric_id, pair_id, budget, certainty, asked_by)
     select t.id, $2, $3, $4, m.id, $6, $7, $8, $9 from tree t, metric m where t.name = $1 and m.name = $5
     returning id`,
    [
      wanted.tree,
      wanted.good,
      wanted.bad,
      wanted.testcaseId,
      wanted.metric,
      wanted.pairId,
      wanted.budget,
      wanted.certainty,
      wanted.askedBy,
    ],
  );
  return row?.id ?? null;
}
