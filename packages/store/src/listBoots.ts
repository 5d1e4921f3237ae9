import { type Queryable, rows } from './query.ts';
import type { BootState, Failure, Progress } from './schema.ts';

export interface BootRow {
  id: number;
  kernel_id: number;
  testcase_id: number;
  testcase: string;
  program: string;
  host: string | null;
  sha: string | null;
  package: string | null;
  pair_id: number | null;
  bisect_id: number | null;
  block: number;
  seq: number;
  state: BootState;
  failure: Failure | null;
  progress: Progress | null;
  wanted_at: Date;
  started_at: Date | null;
  finished_at: Date | null;
}

export interface BootFilter {
  pair?: number;
  bisect?: number;
  kernel?: number;
  testcase?: number;
  host?: string;
  state?: BootState;
  sha?: string;
  before?: number;
  limit: number;
}

/** Boots, newest first; `before` is the id of the last one of the page before. */
export async function listBoots(db: Queryable, filter: BootFilter): Promise<BootRow[]> {
  return rows<BootRow>(
    db,
    'listBoots',
    `select b.id, b.kernel_id, b.testcase_id, c.name testcase, c.program, h.name host, k.sha, k.package, b.pair_id,
            b.bisect_id, b.block, b.seq, b.state, b.failure, b.progress, b.wanted_at, b.started_at, b.finished_at
       from boot b
       join testcase c on c.id = b.testcase_id
       join kernel k on k.id = b.kernel_id
       left join host h on h.id = b.host_id
      where ($1::int is null or b.pair_id = $1)
        and ($2::int is null or b.bisect_id = $2)
        and ($3::int is null or b.kernel_id = $3)
        and ($4::int is null or b.testcase_id = $4)
        and ($5::text is null or h.name = $5)
        and ($6::text is null or b.state = $6)
        and ($7::text is null or k.sha = $7)
        and ($8::int is null or b.id < $8)
      order by b.id desc
      limit $9`,
    [
      filter.pair ?? null,
      filter.bisect ?? null,
      filter.kernel ?? null,
      filter.testcase ?? null,
      filter.host ?? null,
      filter.state ?? null,
      filter.sha ?? null,
      filter.before ?? null,
      filter.limit,
    ],
  );
}
