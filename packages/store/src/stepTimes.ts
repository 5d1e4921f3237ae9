import { type Queryable, rows } from './query.ts';

/** Upper bounds of the histogram's buckets, in seconds: a judge takes one, a build half an hour. */
export const stepBounds = [0.1, 1, 5, 15, 60, 300, 900, 3600];

export interface StepTime {
  step: string;
  failed: boolean;
  runs: number;
  seconds: number;
  /** Runs of at most `stepBounds[i]` seconds. */
  buckets: number[];
}

/** Counts one run of a step. */
export async function addStepTime(
  db: Queryable,
  run: { step: string; seconds: number; failed: boolean },
): Promise<void> {
  await rows(
    db,
    'addStepTime',
    `insert into step_time (step, failed, runs, seconds, buckets) values ($1, $2, 1, $3, $4::bigint[])
     on conflict (step, failed) do update set runs = step_time.runs + 1, seconds = step_time.seconds + excluded.seconds,
       buckets = (select array_agg(a + b order by i) from unnest(step_time.buckets, excluded.buckets) with ordinality u(a, b, i))`,
    [run.step, run.failed, run.seconds, stepBounds.map((bound) => (run.seconds <= bound ? 1 : 0))],
  );
}

/** What all runs took so far, by step and outcome. */
export async function listStepTimes(db: Queryable): Promise<StepTime[]> {
  return rows<StepTime>(
    db,
    'listStepTimes',
    `select step, failed, runs::int, seconds, buckets::int[] buckets from step_time order by step, failed`,
  );
}
