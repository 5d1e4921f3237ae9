import { type Queryable, rows } from './query.ts';

export interface SavedBoots {
  testcase_id: number;
  key: string;
  name: string;
  tbox_group: string;
  deterministic: boolean;
  kernel_id: number;
  boot_ids: number[];
}

/** The finished boots that `kdelta run --save NAME` kept, one row per testcase and kernel; none: no such name. */
export async function findSavedBoots(db: Queryable, savedAs: string): Promise<SavedBoots[]> {
  return rows<SavedBoots>(
    db,
    'findSavedBoots',
    `select c.id testcase_id, c.key, c.name, c.tbox_group, c.deterministic, b.kernel_id,
            array_agg(b.id order by b.seq, b.id) boot_ids
       from boot b join testcase c on c.id = b.testcase_id
      where b.saved_as = $1 and b.state = 'done'
      group by c.id, b.kernel_id order by c.id, b.kernel_id`,
    [savedAs],
  );
}

/** All names that boots are kept under, newest first. */
export async function listSavedNames(db: Queryable): Promise<string[]> {
  const found = await rows<{ name: string }>(
    db,
    'listSavedNames',
    'select saved_as name from boot where saved_as is not null group by saved_as order by max(id) desc',
  );
  return found.map((row) => row.name);
}
