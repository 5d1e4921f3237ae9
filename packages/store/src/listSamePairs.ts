import type { PairRow } from './listPairs.ts';
import { type Queryable, rows } from './query.ts';

/** The pairs of the same two kernels at other testcases and on other host groups. */
export async function listSamePairs(
  db: Queryable,
  baseKernelId: number,
  headKernelId: number,
  without: number,
): Promise<Pick<PairRow, 'id' | 'verdict' | 'state' | 'line' | 'testcase' | 'tbox_group'>[]> {
  return rows(
    db,
    'listSamePairs',
    `select p.id, p.verdict, p.state, p.line, c.name testcase, c.tbox_group
       from pair p join testcase c on c.id = p.testcase_id
      where p.base_kernel_id = $1 and p.head_kernel_id = $2 and p.id <> $3 order by p.id limit 50`,
    [baseKernelId, headKernelId, without],
  );
}
