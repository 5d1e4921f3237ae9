import { type Queryable, rows } from './query.ts';

/** Gives an unfinished bisect more boots; returns the new budget, or null when it has ended or doesn't exist. */
export async function addBisectBudget(db: Queryable, id: number, boots: number): Promise<number | null> {
  const [row] = await rows<{ budget: number }>(
    db,
    'addBisectBudget',
    `update bisect set budget = budget + $2 where id = $1 and state in ('wanted','running','paused','verifying') returning budget`,
    [id, boots],
  );
  return row?.budget ?? null;
}
