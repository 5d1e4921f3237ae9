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

/** Enough of `packed` for unpackJudgementHead in most cases; the rest of a big judgement is not even read from disk. */
const HEAD_BYTES = 65_536;

/** A judgement with `packed` cut after its first part; null when there is none with this id. */
export async function loadJudgementHead(db: Queryable, id: number): Promise<JudgementRow | null> {
  const [row] = await rows<JudgementRow>(
    db,
    'loadJudgementHead',
    `select id, pair_id, base_boots, head_boots, history_cutoff, judge_version, verdict, line, made_at,
            substr(packed, 1, ${HEAD_BYTES}) packed
       from judgement where id = $1`,
    [id],
  );
  if (!row) return null;
  return 8 + row.packed.readUInt32LE(4) <= row.packed.length ? row : loadJudgement(db, id);
}
