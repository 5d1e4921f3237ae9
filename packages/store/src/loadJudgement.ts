import { type Queryable, rows } from './query.ts';
import type { VerdictName } from './schema.ts';

export interface JudgementRow {
  id: number;
  pair_id: number | null;
  base_boots: number[];
  head_boots: number[];
  history_cutoff: number;
  judge_version: string;
  verdict: VerdictName;
  line: string;
  packed: Buffer;
  made_at: Date;
}

/** A judgement as it was made, with its packed deltas; null when there is none with this id. */
export async function loadJudgement(db: Queryable, id: number): Promise<JudgementRow | null> {
  const [row] = await rows<JudgementRow>(
    db,
    'loadJudgement',
    `select id, pair_id, base_boots, head_boots, history_cutoff, judge_version, verdict, line, packed, made_at
       from judgement where id = $1`,
    [id],
  );
  return row ?? null;
}

/** A judgement with `packed` cut after its first part, which says itself how long it is: the rest is not even read from disk. */
export async function loadJudgementHead(db: Queryable, id: number): Promise<JudgementRow | null> {
  const [row] = await rows<JudgementRow>(
    db,
    'loadJudgementHead',
    `select id, pair_id, base_boots, head_boots, history_cutoff, judge_version, verdict, line, made_at,
            substr(packed, 1, 8 + get_byte(l, 0) + (get_byte(l, 1) << 8) + (get_byte(l, 2) << 16)) packed
       from (select *, substr(packed, 5, 4) l from judgement where id = $1) j`,
    [id],
  );
  return row ?? null;
}
