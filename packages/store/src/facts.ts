import { type Queryable, rows } from './query.ts';

export interface BootFacts {
  kernel: number;
  /** Seconds since the epoch: when it started. */
  at: number;
}
export interface KernelFacts {
  sha: string | null;
  /** Seconds since the epoch: when its commit was committed; null for packages. */
  committed: number | null;
}

/** Facts of this many rows are kept (some 100 bytes each). */
const MOST = 200_000;

/**
 * Facts of rows by id. What can't change any more is kept for the life of the connection pool: joining boots and commits
 * for a history of ten thousand took Postgres most of its time. `read` says of each whether it is final.
 */
function keepFacts<T>(read: (db: Queryable, ids: number[]) => Promise<{ id: number; facts: T; final: boolean }[]>) {
  const known = new WeakMap<Queryable, Map<number, T>>();
  return async (db: Queryable, ids: number[]): Promise<(id: number) => T | undefined> => {
    let kept = known.get(db);
    if (!kept || kept.size > MOST) {
      kept = new Map();
      known.set(db, kept);
    }
    const final = kept;
    const missing = ids.filter((id) => !final.has(id));
    const open = new Map<number, T>();
    if (missing.length > 0)
      for (const row of await read(db, missing)) (row.final ? final : open).set(row.id, row.facts);
    return (id) => final.get(id) ?? open.get(id);
  };
}

/** Kernel and start of boots, by id; final when the boot has ended. */
export const bootFacts = keepFacts<BootFacts>(async (db, ids) => {
  const [row] = await rows<{ ids: number[] | null; kernels: number[]; at: number[]; ended: boolean[] }>(
    db,
    'bootFacts',
    `select json_agg(id) ids, json_agg(kernel_id) kernels, json_agg(extract(epoch from started_at)::int) at,
            json_agg(finished_at is not null) ended
       from boot where id = any($1)`,
    [ids],
  );
  return (row?.ids ?? []).map((id, i) => ({
    id,
    facts: { kernel: row!.kernels[i]!, at: row!.at[i]! },
    final: row!.ended[i]!,
  }));
});

/** Commit of kernels (none for packages) and when it was made, by kernel id; final once the commit is recorded. */
export const kernelFacts = keepFacts<KernelFacts>(async (db, ids) => {
  const [row] = await rows<{ ids: number[] | null; shas: (string | null)[]; committed: (number | null)[] }>(
    db,
    'kernelFacts',
    `select json_agg(k.id) ids, json_agg(k.sha) shas, json_agg(extract(epoch from c.committed_at)::int) committed
       from kernel k left join commit c on c.sha = k.sha where k.id = any($1)`,
    [ids],
  );
  return (row?.ids ?? []).map((id, i) => ({
    id,
    facts: { sha: row!.shas[i]!, committed: row!.committed[i]! },
    final: row!.shas[i] === null || row!.committed[i] !== null,
  }));
});
