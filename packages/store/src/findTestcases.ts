import { type Queryable, rows } from './query.ts';

export interface TestcaseRow {
  id: number;
  key: string;
  name: string;
  program: string;
  tbox_group: string;
  deterministic: boolean;
  /** Finished boots. */
  boots: number;
}

/** Testcases that have boots, by name; of one tree or with these ids when given. */
export async function findTestcases(
  db: Queryable,
  filter: { tree?: string; ids?: number[] } = {},
): Promise<TestcaseRow[]> {
  return rows<TestcaseRow>(
    db,
    'findTestcases',
    `select c.id, c.key, c.name, c.program, c.tbox_group, c.deterministic, n.boots::int boots
       from testcase c
       cross join lateral (select count(*) boots from boot b where b.testcase_id = c.id and b.state = 'done') n
      where n.boots > 0
        and ($1::text is null or exists (select 1 from pair p join tree t on t.id = p.tree_id
                                          where t.name = $1 and p.testcase_id = c.id))
        and ($2::int[] is null or c.id = any($2))
      order by c.name, c.tbox_group, c.id desc limit 500`,
    [filter.tree ?? null, filter.ids ?? null],
  );
}
