import { type Queryable, rows } from './query.ts';

export interface MatrixTestcase {
  testcase_id: number;
  key: string;
  name: string;
  tbox_group: string;
  kernel_id: number;
  boot_ids: number[];
}

/**
 * The finished boots of one commit at the testcases called `testcase` (a key or a name), newest testcase first, one row
 * per kernel and testcase. A kernel that is the same as an earlier one is answered with the earlier one's boots.
 */
export async function findMatrixBoots(
  db: Queryable,
  by: { tree: string; sha: string; testcase: string },
): Promise<MatrixTestcase[]> {
  return rows<MatrixTestcase>(
    db,
    'findMatrixBoots',
    `select c.id testcase_id, c.key, c.name, c.tbox_group, k.id kernel_id, array_agg(b.id order by b.id) boot_ids
       from kernel k join tree t on t.id = k.tree_id
       join boot b on b.kernel_id in (k.id, k.same_as) and b.state = 'done'
       join testcase c on c.id = b.testcase_id
      where t.name = $1 and k.sha = $2 and (c.key = $3 or c.name = $3)
      group by c.id, k.id order by c.id desc, k.id`,
    [by.tree, by.sha, by.testcase],
  );
}
