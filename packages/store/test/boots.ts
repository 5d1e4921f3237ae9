import { boot, type Db, host, kernel, testcase } from '../src/index.ts';

/** A testcase, a kernel, a host and `count` boots to hang results on. */
export async function insertBoots(db: Db, count: number) {
  const [t] = await db
    .insert(testcase)
    .values({ key: 'k', name: 'pft', program: 'pft', tboxGroup: 'g', params: {}, versions: {}, job: {} })
    .returning();
  const [k] = await db.insert(kernel).values({ kind: 'deb', package: 'linux-image-x' }).returning();
  const [h] = await db.insert(host).values({ name: 'h', tboxGroup: 'g', config: {} }).returning();
  const boots = await db
    .insert(boot)
    .values(Array.from({ length: count }, (_, seq) => ({ kernelId: k!.id, testcaseId: t!.id, seq })))
    .returning();
  return { testcase: t!, kernel: k!, host: h!, boots };
}
