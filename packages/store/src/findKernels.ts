import { type Queryable, rows } from './query.ts';
import type { Failure, KernelState } from './schema.ts';

export interface KernelRow {
  id: number;
  kind: 'kbuild' | 'deb';
  tree: string | null;
  sha: string | null;
  package: string | null;
  package_version: string | null;
  subject: string | null;
  kconfig: string;
  kconfig_hash: string;
  compiler: string;
  cmdline: string;
  release: string | null;
  build_id: string | null;
  load_hash: string | null;
  same_as: number | null;
  state: KernelState;
  failure: Failure | null;
  image_bytes: number | null;
  build_ms: number | null;
  wanted_at: Date;
  built_at: Date | null;
}

/** Kernels by id, or all that were built of one commit of a tree. */
export async function findKernels(
  db: Queryable,
  by: { id: number } | { tree?: string; sha: string },
): Promise<KernelRow[]> {
  const one = 'id' in by;
  return rows<KernelRow>(
    db,
    one ? 'findKernels-id' : 'findKernels-sha',
    `select k.id, k.kind, t.name tree, k.sha, k.package, k.package_version, c.subject, k.kconfig, k.kconfig_hash, k.compiler,
            k.cmdline, k.release, k.build_id, k.load_hash, k.same_as, k.state, k.failure, k.image_bytes, k.build_ms,
            k.wanted_at, k.built_at
       from kernel k left join tree t on t.id = k.tree_id left join commit c on c.sha = k.sha
      where ${one ? 'k.id = $1' : 'k.sha = $1 and ($2::text is null or t.name = $2)'}
      order by k.id`,
    one ? [by.id] : [by.sha, by.tree ?? null],
  );
}
