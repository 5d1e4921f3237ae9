import { likelyNext, type Probe } from '@kdelta/bisect';
import type { HostFile } from '@kdelta/jobs';
import { type Db, host, kernel, wantKernel } from '@kdelta/store';
import { and, eq, inArray, lt, sql } from 'drizzle-orm';
import type { KernelRow, SearchState } from './bisectSearch.ts';
import type { Next } from './context.ts';

/** Kernels that may be needed are built when nobody waits for another. */
const ahead = -1;

/**
 * Asks for the kernels that this bisect will probably boot after `probes` (and for `also`), to be built while the hosts are busy with
 * these. Those that it had asked for ahead and that the search has turned away from are forgotten, even in the middle of
 * their build: the builder that loses its claim stops.
 */
export async function buildAhead(tx: Db, state: SearchState, probes: Probe[], also: string[] = []): Promise<Next[]> {
  if (await disturbs(tx, state)) return [];
  const built = new Set([...state.kernels].filter(([, k]) => k.state === 'built').map(([sha]) => sha));
  const likely = [...likelyNext(state.search, probes, { built, hosts: 1 }), ...also];
  const needed = new Set([...likely, ...probes.map((p) => p.sha)]);
  await forget(
    tx,
    [...state.kernels].filter(([sha, k]) => !needed.has(sha) && k.priority < 0).map(([, k]) => k.id),
  );
  const { kind, treeId, kconfig, kconfigHash, cmdline } = state.template;
  const wanted: KernelRow[] = [];
  for (const sha of likely) {
    if (state.kernels.has(sha)) continue;
    wanted.push(await wantKernel(tx, { kind, treeId: treeId!, sha, kconfig, kconfigHash, cmdline, priority: ahead }));
  }
  return wanted.filter((k) => k.state === 'wanted').map((k) => ({ step: 'build', id: k.id, attempt: k.attempt }));
}

/** Guests of this machine whose time is measured: a build beside them would be part of what they measure. */
async function disturbs(tx: Db, { testcase }: SearchState): Promise<boolean> {
  if (testcase.deterministic) return false;
  const hosts = await tx.select({ config: host.config }).from(host).where(eq(host.tboxGroup, testcase.tboxGroup));
  return hosts.some((h) => (h.config as HostFile).boot.method === 'qemu');
}

/** Takes away kernels that were asked for ahead, aren't built yet, and that nothing else has come to want. */
export async function forget(tx: Db, ids: number[]): Promise<void> {
  if (!ids.length) return;
  await tx
    .delete(kernel)
    .where(
      and(
        inArray(kernel.id, ids),
        lt(kernel.priority, 0),
        inArray(kernel.state, ['wanted', 'building']),
        sql`not exists (select 1 from pair p where ${kernel.id} in (p.base_kernel_id, p.head_kernel_id))`,
        sql`not exists (select 1 from boot b where b.kernel_id = ${kernel.id})`,
        sql`not exists (select 1 from bisect_probe q where q.kernel_id = ${kernel.id})`,
        sql`not exists (select 1 from artifact a where a.kernel_id = ${kernel.id})`,
      ),
    );
}

/** The kernel, now needed: no longer one of those that wait for others. Undefined when another bisect forgot it meanwhile. */
export async function needNow(tx: Db, k: KernelRow, priority: number): Promise<KernelRow | undefined> {
  if (k.priority >= priority || k.state === 'built' || k.state === 'failed') return k;
  const [row] = await tx.update(kernel).set({ priority }).where(eq(kernel.id, k.id)).returning();
  return row;
}
