import { createSearch, observe, type Search, type SearchInput, untestable } from '@kdelta/bisect';
import type { TreeConfig } from '@kdelta/jobs';
import type { KernelArtifact } from '@kdelta/kernels';
import {
  type bisect,
  bisectProbe,
  boot,
  type Db,
  type Failure,
  findRangeKernels,
  kernel,
  listRange,
  loadBootValues,
  metric,
  pair,
  testcase,
  tree,
} from '@kdelta/store';
import { and, asc, eq, inArray, or } from 'drizzle-orm';
import { priorOf } from './bisectPrior.ts';
import { mirrorDir } from './build.ts';
import type { StepContext } from './context.ts';
import { rootOf } from './pairLife.ts';

export type BisectRow = typeof bisect.$inferSelect;
export type KernelRow = typeof kernel.$inferSelect;
export type ProbeRow = typeof bisectProbe.$inferSelect;
type BootRow = typeof boot.$inferSelect;

/** The search of a bisect as the database knows it now, and what it was made from. */
export interface SearchState {
  search: Search;
  /** Kernels of the range's commits (and good), and of reverts on top of bad, built like the pair's. */
  kernels: Map<string, KernelRow>;
  /** A kernel of the range: what others are built like. */
  template: KernelRow;
  testcase: typeof testcase.$inferSelect;
  metric: string;
  branch: string | null;
  tree: { config: TreeConfig };
  probes: ProbeRow[];
  /** Boots of this bisect, its verification included. */
  boots: BootRow[];
  values: Map<number, number>;
  /** All boots of the range's images; `root` is the kernel that stands for the image. */
  booted: { id: number; root: number }[];
  untestable: Record<string, string>;
  commits: number;
}

/**
 * Noise on a host that counts instructions, when nothing else is known: of one boot, measured 0.01 … 0.1 % (DESIGN.md), and
 * between builds of equivalent source. A larger `buildSd` would refuse steps of 0.3 %, which pairs show with certainty.
 */
const countedNoise = { sd: 0.0005, df: 20, buildSd: 0.0003 };

/**
 * Builds the search anew from what is stored: the range's commits, and every boot of their kernels at this testcase, its
 * own, the pair's and any other's. Kernels with equal images share their boots. Throws what createSearch throws.
 */
export async function loadSearch(ctx: StepContext, row: BisectRow): Promise<SearchState> {
  const { db } = ctx;
  const [treeRow] = await db.select().from(tree).where(eq(tree.id, row.treeId));
  const [tc] = await db.select().from(testcase).where(eq(testcase.id, row.testcaseId));
  const [metricRow] = await db.select().from(metric).where(eq(metric.id, row.metricId));
  const [asked] = row.pairId ? await db.select().from(pair).where(eq(pair.id, row.pairId)) : [];
  const range = await listRange(ctx.store.pool, row.goodSha, row.badSha, 20_000);
  const commits = range.map((c) => ({ sha: c.sha, parents: c.parents }));

  const template = await findTemplate(db, row, asked?.headKernelId);
  const shas = [row.goodSha, ...commits.map((c) => c.sha)];
  const probes = await db
    .select()
    .from(bisectProbe)
    .where(eq(bisectProbe.bisectId, row.id))
    .orderBy(asc(bisectProbe.seq));
  const reverts = probes.filter(isRevert).map((p) => p.sha);
  const found = await findRangeKernels(db, template, [...shas, ...reverts]);
  const kernels = new Map([...found].filter(([sha]) => !reverts.includes(sha)));
  const prior = await priorOf(
    mirrorDir(ctx, treeRow!.name),
    range,
    { good: row.goodSha, bad: row.badSha },
    template.artifact as KernelArtifact | null,
  );
  const identical = sameKernels(range, kernels, prior.commentOnly);

  const better = ctx.metrics.lookup(metricRow!.name).better;
  const input: SearchInput = {
    commits,
    good: row.goodSha,
    bad: row.badSha,
    identical,
    prior: prior.weights,
    certainty: row.certainty,
    budget: row.budget,
    // The bot bisects what its judge called a regression; a person may ask for either direction.
    ...(row.pairId && better && { direction: better === 'higher' ? (-1 as const) : (1 as const) }),
    ...(tc!.deterministic && { noise: countedNoise }),
  };
  const search = createSearch(input);

  const stored = await bootsOfRange(db, row, found);
  const values = new Map<number, number>();
  const matrices = await loadBootValues(
    db,
    stored.filter((b) => b.state === 'done').map((b) => b.id),
  );
  for (const [id, numbers] of matrices) {
    const value = numbers.get(metricRow!.name);
    if (value !== undefined) values.set(id, value);
  }

  const roots = new Map([...found.values()].map((k) => [k.id, rootOf(k)]));
  const dead = untestableCommits(kernels, stored, values);
  for (const sha of Object.keys(dead)) untestable(search, sha);
  const [verified] = row.verifyPairId ? await db.select().from(pair).where(eq(pair.id, row.verifyPairId)) : [];
  const verifying = verified ? [verified.baseKernelId, verified.headKernelId] : [];
  observeBoots(search, row, kernels, stored, values, probes, verifying, tc!.deterministic);

  return {
    search,
    kernels: found,
    template,
    testcase: tc!,
    metric: metricRow!.name,
    branch: asked?.branch ?? null,
    tree: { config: treeRow!.config as TreeConfig },
    probes,
    boots: stored.filter((b) => isOwn(b, row)),
    booted: stored.map((b) => ({ id: b.id, root: roots.get(b.kernelId) ?? b.kernelId })),
    values,
    untestable: dead,
    commits: commits.length,
  };
}

/**
 * Commit → name of its image. Kernels that are built tell; a commit that changes comments only is its parent until both are
 * built and differ, so that the parent is probed and not it.
 */
function sameKernels(
  range: { sha: string; parents: string[] }[],
  kernels: Map<string, KernelRow>,
  commentOnly: Set<string>,
): Record<string, string> {
  const identical: Record<string, string> = {};
  for (const [sha, k] of kernels) if (k.state === 'built') identical[sha] = String(rootOf(k));
  // Newest first in `range`: parents get their name before their children.
  for (const { sha, parents } of [...range].reverse()) {
    const parent = parents[0];
    if (parent === undefined || !commentOnly.has(sha)) continue;
    identical[parent] ??= identical[sha] ?? `commit ${parent}`;
    identical[sha] ??= identical[parent];
  }
  return identical;
}

/** A probe of bad with the culprit reverted: its commit isn't in the range, and the search doesn't see it. */
export function isRevert(p: Pick<ProbeRow, 'why'>): boolean {
  return p.why.startsWith('revert: ');
}

/** Boots that this bisect asked for, its verification included. */
export function isOwn(b: BootRow, row: BisectRow): boolean {
  return b.bisectId === row.id || (row.verifyPairId !== null && b.pairId === row.verifyPairId);
}

/** A kernel to build the others like: the pair's head, or whatever of the tree was tested at good or bad. */
async function findTemplate(db: Db, row: BisectRow, headKernelId: number | undefined): Promise<KernelRow> {
  const where = headKernelId
    ? eq(kernel.id, headKernelId)
    : and(eq(kernel.treeId, row.treeId), inArray(kernel.sha, [row.badSha, row.goodSha]));
  const [found] = await db.select().from(kernel).where(where).orderBy(asc(kernel.id)).limit(1);
  if (!found) {
    throw new Error(
      `KD_BISECT_NO_KERNEL: neither ${row.goodSha} nor ${row.badSha} was ever built for this tree; let a pair be planned first`,
    );
  }
  return found;
}

async function bootsOfRange(db: Db, row: BisectRow, kernels: Map<string, KernelRow>): Promise<BootRow[]> {
  const roots = [...new Set([...kernels.values()].flatMap((k) => [k.id, k.sameAs ?? k.id]))];
  if (!roots.length) return [];
  const found = await db
    .select({ boot })
    .from(boot)
    .innerJoin(kernel, eq(kernel.id, boot.kernelId))
    .where(and(eq(boot.testcaseId, row.testcaseId), or(inArray(kernel.id, roots), inArray(kernel.sameAs, roots))))
    .orderBy(asc(boot.id));
  return found.map((f) => f.boot);
}

/** Commit → why it can't be tested: it doesn't build, or none of its boots came up or ran to the end. */
function untestableCommits(
  kernels: Map<string, KernelRow>,
  boots: BootRow[],
  values: Map<number, number>,
): Record<string, string> {
  const dead: Record<string, string> = {};
  for (const [sha, k] of kernels) {
    if (k.state === 'failed' && isCommitsFault(k.failure)) dead[sha] = k.failure?.message ?? 'does not build';
    const own = boots.filter((b) => b.kernelId === k.id || (k.sameAs !== null && b.kernelId === k.sameAs));
    const died = own.filter((b) => b.state === 'failed' && isKernelsFault(b.failure));
    if (died.length && !own.some((b) => values.has(b.id))) dead[sha] = died[0]!.failure?.message ?? 'does not boot';
  }
  return dead;
}

/** A full disk or a bug of ours says nothing of the commit. */
export function isCommitsFault(failure: Failure | null): boolean {
  return failure?.class !== 'infra' && failure?.class !== 'bug';
}

function isKernelsFault(failure: Failure | null): boolean {
  return failure?.class === 'boot' || failure?.class === 'test';
}

function observeBoots(
  search: Search,
  row: BisectRow,
  kernels: Map<string, KernelRow>,
  boots: BootRow[],
  values: Map<number, number>,
  probes: ProbeRow[],
  verifying: number[],
  deterministic: boolean,
): void {
  const shasOf = new Map<number, string[]>();
  const rootOf = new Map<number, number>();
  for (const [sha, k] of kernels) {
    const root = k.sameAs ?? k.id;
    rootOf.set(k.id, root);
    shasOf.set(root, [...(shasOf.get(root) ?? []), sha]);
  }
  const shaOf = new Map([...kernels].map(([sha, k]) => [k.id, sha]));
  // Fresh boots of a verification are those of its commit, whichever commit's kernel stood for the image.
  const verifies = new Map<number, string>();
  for (const p of probes) if (p.why.startsWith('verify')) for (const b of p.bootIds) verifies.set(b, p.sha);
  for (const b of boots) {
    if (b.pairId === null || b.pairId !== row.verifyPairId) continue;
    const k = verifying.find((id) => rootOf.get(id) === rootOf.get(b.kernelId));
    if (k !== undefined) verifies.set(b.id, shaOf.get(k)!);
  }
  for (const b of boots) {
    const value = values.get(b.id);
    if (value === undefined) continue;
    // A boot counts for every commit of the range that has this image, once for commits that the search takes for one.
    const own = verifies.get(b.id) ?? shaOf.get(b.kernelId);
    const same = shasOf.get(rootOf.get(b.kernelId) ?? b.kernelId) ?? [];
    const seen = new Set<number>();
    for (const sha of own ? [own, ...same] : same) {
      const stands = search.kernelCommit(sha);
      if (seen.has(stands)) continue;
      seen.add(stands);
      observe(search, {
        sha,
        values: [value],
        session: deterministic ? 'counted' : sessionOf(b),
        host: String(b.hostId ?? ''),
        stored: !isOwn(b, row),
        verify: verifies.has(b.id),
      });
    }
  }
}

/** A host drifts over a day, not over an hour: boots of one host and day share a session. */
function sessionOf(b: BootRow): string {
  return `${b.hostId ?? 0}:${(b.startedAt ?? b.wantedAt).toISOString().slice(0, 10)}`;
}
