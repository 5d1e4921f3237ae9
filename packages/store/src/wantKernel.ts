import { and, eq, isNull } from 'drizzle-orm';
import type { Db } from './connect.ts';
import { kernel } from './schema.ts';

export interface WantedKernel {
  kind: 'kbuild' | 'deb';
  treeId?: number;
  repo?: string;
  sha?: string;
  package?: string;
  packageVersion?: string;
  /** Base and fragments, joined by `+`. */
  kconfig?: string;
  kconfigHash?: string;
  cmdline?: string;
  priority?: number;
}

/** The kernel row of this commit (or package), kconfig and command line, made in state `wanted` where it is new. */
export async function wantKernel(db: Db, wanted: WantedKernel): Promise<typeof kernel.$inferSelect> {
  const same = <T>(column: Parameters<typeof isNull>[0], value: T | undefined) =>
    value === undefined ? isNull(column) : eq(column as typeof kernel.sha, value as string);
  const row = and(
    eq(kernel.kind, wanted.kind),
    same(kernel.treeId, wanted.treeId),
    same(kernel.sha, wanted.sha),
    same(kernel.package, wanted.package),
    same(kernel.packageVersion, wanted.packageVersion),
    eq(kernel.kconfigHash, wanted.kconfigHash ?? ''),
    eq(kernel.cmdline, wanted.cmdline ?? ''),
  );
  // One that was asked for ahead of need may be forgotten between the two statements, and not after the second.
  for (let turn = 0; turn < 5; turn++) {
    const [made] = await db.insert(kernel).values(wanted).onConflictDoNothing().returning();
    if (made) return made;
    const [known] = await db.select().from(kernel).where(row).for('key share');
    if (!known) continue;
    const priority = wanted.priority ?? 0;
    if (known.priority >= priority || (known.state !== 'wanted' && known.state !== 'building')) return known;
    // Asked for ahead of need by one, needed by another: it is built as the more urgent of both.
    const [raised] = await db.update(kernel).set({ priority }).where(eq(kernel.id, known.id)).returning();
    if (raised) return raised;
  }
  throw new Error(`kernel ${wanted.sha ?? wanted.package} comes and goes`);
}
