import type { HostFile, TreeConfig } from '@kdelta/jobs';
import type { MailFacts } from '@kdelta/report';
import {
  bisect,
  boot,
  commit,
  type Db,
  host,
  judgement,
  kernel,
  listArtifacts,
  loadMatrix,
  pair,
  testcase,
  tree,
  unpackJudgement,
} from '@kdelta/store';
import { eq, inArray } from 'drizzle-orm';
import type { RevertResult } from './bisectRevert.ts';
import type { StepContext } from './context.ts';

/** What a report is made from, with the rows that it cites. */
export interface ReportFacts {
  mail: MailFacts;
  treeId: number;
  config: TreeConfig;
  culprit: typeof commit.$inferSelect;
  bisectId: number | null;
  pairId: number;
  judgementId: number;
}

/** Facts of the pair parent → culprit; null when it shows no regression of a KPI that one commit explains. */
export async function gatherFacts(ctx: StepContext, pairId: number, reportId: number): Promise<ReportFacts | null> {
  const { db } = ctx;
  const [p] = await db.select().from(pair).where(eq(pair.id, pairId));
  if (!p || p.treeId === null || p.judgementId === null) return null;
  const [treeRow] = await db.select().from(tree).where(eq(tree.id, p.treeId));
  const [tc] = await db.select().from(testcase).where(eq(testcase.id, p.testcaseId));
  const [judged] = await db.select().from(judgement).where(eq(judgement.id, p.judgementId));
  const kernels = await db
    .select()
    .from(kernel)
    .where(inArray(kernel.id, [p.baseKernelId, p.headKernelId]));
  const base = kernels.find((k) => k.id === p.baseKernelId)!;
  const head = kernels.find((k) => k.id === p.headKernelId)!;
  if (!base.sha || !head.sha) return null;
  const commits = await db
    .select()
    .from(commit)
    .where(inArray(commit.sha, [base.sha, head.sha]));
  const parent = commits.find((c) => c.sha === base.sha)!;
  const culprit = commits.find((c) => c.sha === head.sha)!;
  const { deltas } = unpackJudgement(judged!.packed);
  const lead = deltas.find((d) => d.kpi && d.verdict === 'regression');
  if (!lead) return null;

  const config = treeRow!.config as TreeConfig;
  const links = reportLinks(ctx, reportId, p.id);
  return {
    treeId: p.treeId,
    config,
    culprit,
    bisectId: p.bisectId,
    pairId: p.id,
    judgementId: judged!.id,
    mail: {
      tree: { name: treeRow!.name, branch: p.branch ?? '', url: treeRow!.url },
      culprit: { sha: culprit.sha, subject: culprit.subject, patchUrl: patchUrl(culprit.body) },
      parent: { sha: parent.sha, subject: parent.subject },
      lead,
      deltas,
      matrices: {
        parent: await loadMatrix(db, judged!.baseBoots),
        culprit: await loadMatrix(db, judged!.headBoots),
      },
      testcase: { name: tc!.program, params: tc!.params },
      kernel: { kconfig: head.kconfig, compiler: head.compiler },
      host: await hostFacts(db, judged!.headBoots, tc!),
      search: p.bisectId === null ? null : await searchFacts(db, p.bisectId, culprit.sha),
      verified: await verification(db, judged!.baseBoots, judged!.headBoots),
      reproduce: await reproduceCommands(ctx, judged!.headBoots),
      links,
      from: ctx.config.mail?.from ?? 'kdelta bot <kdelta@kdelta.invalid>',
    },
  };
}

export function reportLinks(ctx: StepContext, reportId: number, pairId: number): MailFacts['links'] {
  const url = ctx.config.url.replace(/\/$/, '');
  return {
    report: `${url}/r/${reportId}`,
    reproduce: `${url}/pairs/${pairId}/reproduce`,
    public: !/^https?:\/\/(localhost|127\.|0\.0\.0\.0|\[|10\.|192\.168\.|[^/.:]+(:|\/|$))/.test(`${url}/`),
  };
}

async function searchFacts(db: Db, bisectId: number, culprit: string): Promise<MailFacts['search']> {
  const [row] = await db.select().from(bisect).where(eq(bisect.id, bisectId));
  const result = (row?.result ?? {}) as {
    certainty?: number;
    boots?: number;
    kernels?: number;
    commits?: number;
    revert?: RevertResult | null;
  };
  const revert = result.revert;
  const untestable = Object.keys(row?.untestable ?? {});
  const near = await db
    .select()
    .from(commit)
    .where(inArray(commit.sha, [...untestable, culprit]));
  const parents = near.find((c) => c.sha === culprit)?.parents ?? [];
  return {
    certainty: result.certainty ?? 0,
    boots: result.boots ?? 0,
    kernels: result.kernels ?? 0,
    commits: result.commits ?? 0,
    untestable: untestable.length,
    revert: typeof revert?.oldLevel === 'number' ? { boots: revert.values.length, oldLevel: revert.oldLevel } : null,
    untestableAdjacent: untestable.some(
      (sha) => parents.includes(sha) || near.find((c) => c.sha === sha)?.parents.includes(culprit),
    ),
  };
}

async function verification(db: Db, baseBoots: number[], headBoots: number[]): Promise<MailFacts['verified']> {
  const all = [...baseBoots, ...headBoots];
  if (!all.length) return null;
  const rows = await db.select({ hostId: boot.hostId }).from(boot).where(inArray(boot.id, all));
  return {
    parent: baseBoots.length,
    culprit: headBoots.length,
    oneHost: new Set(rows.map((r) => r.hostId)).size === 1,
  };
}

async function hostFacts(db: Db, bootIds: number[], tc: typeof testcase.$inferSelect): Promise<MailFacts['host']> {
  const [row] = bootIds.length
    ? await db
        .select({ config: host.config })
        .from(boot)
        .innerJoin(host, eq(host.id, boot.hostId))
        .where(inArray(boot.id, bootIds))
        .limit(1)
    : [];
  const file = row?.config as HostFile | undefined;
  const parts: string[] = [];
  if (file) {
    parts.push(`${file.nrCpu} CPU${file.nrCpu === 1 ? '' : 's'}`, gibibytes(file.memory));
    if (file.model && file.boot.method !== 'qemu') parts.push(file.model);
    if (file.boot.method === 'qemu') {
      const version = tc.versions.qemu ? ` ${tc.versions.qemu}` : '';
      parts.push(
        `QEMU${version} ${tc.versions.accel ?? (file.boot.icount ? `${file.boot.accel},icount` : file.boot.accel)}`,
      );
    } else parts.push(`bare metal, ${file.boot.method}`);
  }
  return { tboxGroup: tc.tboxGroup, description: parts.join(', '), deterministic: tc.deterministic };
}

function gibibytes(bytes: number): string {
  return bytes >= 2 ** 30 ? `${Math.round(bytes / 2 ** 30)}G` : `${Math.round(bytes / 2 ** 20)}M`;
}

/** The commands of the last boot of the culprit, as its runner kept them. */
async function reproduceCommands(ctx: StepContext, bootIds: number[]): Promise<string[]> {
  const text = await bootFile(ctx, bootIds, 'reproduce');
  return (text?.toString('utf8') ?? '').split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
}

/** A file of the newest boot that has it. */
export async function bootFile(
  ctx: Pick<StepContext, 'store' | 'artifacts'>,
  bootIds: number[],
  name: string,
): Promise<Buffer | null> {
  for (const id of [...bootIds].reverse()) {
    const files = await listArtifacts(ctx.store.pool, { bootId: id });
    const found = files.find((f) => f.name === name || f.name.startsWith(`${name}.`));
    if (found) return ctx.artifacts.get(found.sha256).catch(() => null);
  }
  return null;
}

function patchUrl(body: string): string | undefined {
  return /^Link:\s*(https:\/\/(?:lore\.kernel\.org|patch\.msgid\.link)\/\S+)$/im.exec(body)?.[1];
}
