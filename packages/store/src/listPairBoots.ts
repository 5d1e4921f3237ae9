import { type Queryable, rows } from './query.ts';
import type { BootState, Failure, Progress } from './schema.ts';

export interface PairBoot {
  id: number;
  kernel_id: number;
  host: string | null;
  state: BootState;
  failure: Failure | null;
  progress: Progress | null;
  environment: Record<string, string> | null;
  block: number;
  seq: number;
  started_at: Date | null;
  finished_at: Date | null;
}

/** The boots that a pair asked for and those its judgement used, in the order in which they ran. */
export async function listPairBoots(db: Queryable, pairId: number, judged: number[]): Promise<PairBoot[]> {
  return rows<PairBoot>(
    db,
    'listPairBoots',
    `select b.id, b.kernel_id, h.name host, b.state, b.failure, b.progress, b.environment, b.block, b.seq, b.started_at,
            b.finished_at
       from boot b left join host h on h.id = b.host_id
      where b.id in (select id from boot where pair_id = $1 union select unnest($2::int[]))
      order by b.started_at nulls last, b.block, b.seq, b.id`,
    [pairId, judged],
  );
}
