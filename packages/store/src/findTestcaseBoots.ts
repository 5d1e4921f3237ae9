import { type Queryable, rows } from './query.ts';

export interface TestcaseBoots {
  id: number;
  name: string;
  tbox_group: string;
  deterministic: boolean;
  boots: { id: number; kernel_id: number }[];
}

/** A testcase with the finished boots of some kernels (and of those they are the same as), oldest first; null: no such testcase. */
export async function findTestcaseBoots(
  db: Queryable,
  testcaseId: number,
  kernelIds: number[],
): Promise<TestcaseBoots | null> {
  const [row] = await rows<TestcaseBoots>(
    db,
    'findTestcaseBoots',
    `select c.id, c.name, c.tbox_group, c.deterministic,
            coalesce((select json_agg(json_build_object('id', b.id, 'kernel_id', b.kernel_id) order by b.id)
               from boot b
              where b.testcase_id = c.id and b.state = 'done'
                and b.kernel_id in (select unnest(array[id, same_as]) from kernel where id = any($2))), '[]') boots
       from testcase c where c.id = $1`,
    [testcaseId, kernelIds],
  );
  return row ?? null;
}
