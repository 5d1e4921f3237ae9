import { type Queryable, rows } from './query.ts';
import type { KernelState } from './schema.ts';

export interface ProbeRow {
  seq: number;
  sha: string;
  subject: string | null;
  kernel_id: number | null;
  kernel_state: KernelState | null;
  boots: number;
  boot_ids: number[];
  values: (number | null)[] | null;
  state: 'wanted' | 'done' | 'untestable';
  why: string;
  posterior_before: Record<string, number> | null;
  posterior_after: Record<string, number> | null;
  at: Date;
}

/** The probes of a bisect in the order in which they were taken. */
export async function listProbes(db: Queryable, bisectId: number): Promise<ProbeRow[]> {
  return rows<ProbeRow>(
    db,
    'listProbes',
    `select p.seq, p.sha, c.subject, p.kernel_id, k.state kernel_state, p.boots, p.boot_ids, p.values, p.state, p.why,
            p.posterior_before, p.posterior_after, p.at
       from bisect_probe p left join commit c on c.sha = p.sha left join kernel k on k.id = p.kernel_id
      where p.bisect_id = $1 order by p.seq`,
    [bisectId],
  );
}
