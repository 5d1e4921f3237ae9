import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Testcase, TreeConfig } from '@kdelta/jobs';
import {
  boot,
  commit,
  host,
  insertArtifact,
  kernel,
  pair,
  saveBootMatrix,
  testcase,
  tree,
  wantKernel,
  wantPair,
} from '@kdelta/store';
import { and, asc, eq, gte, sql } from 'drizzle-orm';
import { bisectStep } from '../src/bisect.ts';
import { judgeStep } from '../src/judge.ts';
import { advancePair, advancePairsOf } from '../src/pairLife.ts';
import { reportStep } from '../src/report.ts';
import { runStep } from '../src/runStep.ts';
import { sendStep } from '../src/send.ts';
import type { TestContext } from './context.ts';

/*
 * A stand-in for builders and hosts: the rows of kernels and boots end as `commits` says, at once. Everything else is
 * the real thing: database, steps, judge, search, SMTP.
 */

export interface LabCommit {
  subject: string;
  author: string;
  /** Fault rate of this kernel; boots scatter around it by half of the lab's noise, ± 0.02 % unless told otherwise. */
  level: number;
  builds?: boolean;
  boots?: boolean;
  /** Same image as the commit before. */
  commentOnly?: boolean;
}

export interface Lab {
  treeId: number;
  testcaseId: number;
  shas: string[];
  plan(base: number, head: number): Promise<number>;
  /** Builds, boots, judges, bisects, reports and sends until nothing is left to do. */
  settle(options?: { buildAhead?: boolean }): Promise<void>;
}

export const shaOf = (n: number) => n.toString(16).padStart(2, '0').repeat(20);

/** @param mirror commits on a real repository, one file each; kernels of commits that it doesn't know have `revertLevel` (null: don't build) */
export async function openLab(
  ctx: TestContext,
  commits: LabCommit[],
  mail: Partial<TreeConfig['mail']>,
  noise = 0.0004,
  mirror?: { revertLevel: number | null },
): Promise<Lab> {
  const config = {
    name: 'demo',
    bisect: { enabled: true, budget: 60, certainty: 0.95 },
    mail: {
      mode: 'draft',
      to: ['author'],
      cc: [],
      allow: [],
      perDay: 20,
      charset: 'utf-8',
      attachToLists: false,
      ...mail,
    },
  } as unknown as TreeConfig;
  const { db } = ctx;
  const [treeRow] = await db
    .insert(tree)
    .values({ name: 'demo', url: 'https://git.example.org/demo.git', config })
    .returning();
  const job = { program: 'pft', boots: 3, maxBoots: 9, params: {} } as unknown as Testcase;
  const [tc] = await db
    .insert(testcase)
    .values({
      key: 'k1',
      name: 'pft-1T',
      program: 'pft',
      tboxGroup: 'qemu-icount',
      params: { nr_task: '1' },
      versions: {},
      job,
      jobYaml: 'testcase: pft\n',
      deterministic: true,
    })
    .returning();
  const boots = { method: 'qemu', accel: 'tcg', icount: true, nrCpu: 1, memory: 2 ** 30, rootfs: 'debian-bookworm' };
  await ctx.db
    .insert(host)
    .values({ name: 'h1', tboxGroup: 'qemu-icount', config: { nrCpu: 1, memory: 2 ** 30, boot: boots } });
  const shas = mirror
    ? makeMirror(join(ctx.dirs.state, 'mirrors', 'demo.git'), commits)
    : commits.map((_, i) => shaOf(i + 1));
  const commitOf = (sha: string): LabCommit =>
    commits[shas.indexOf(sha)] ?? {
      ...commits[0]!,
      level: mirror?.revertLevel ?? 0,
      builds: mirror?.revertLevel !== null,
    };
  for (const [i, c] of commits.entries()) {
    const when = new Date(Date.UTC(2026, 0, 1, 0, i));
    const [name, email] = c.author.split(/[<>]/).map((s) => s.trim());
    await db.insert(commit).values({
      sha: shas[i]!,
      parents: i ? [shas[i - 1]!] : [],
      authorName: name!,
      authorEmail: email!,
      committerName: name!,
      committerEmail: email!,
      authoredAt: when,
      committedAt: when,
      subject: c.subject,
    });
  }

  let seed = 1;
  const jitter = () => {
    // Park & Miller (1988); uniform.
    seed = (seed * 48271) % 2147483647;
    return 1 + noise * (seed / 2147483647 - 0.5);
  };

  const buildAll = async (least: number) => {
    const wanted = await db
      .select()
      .from(kernel)
      .where(and(eq(kernel.state, 'wanted'), gte(kernel.priority, least)))
      .orderBy(asc(kernel.id));
    for (const k of wanted) {
      const i = shas.indexOf(k.sha!);
      const c = commitOf(k.sha!);
      await ctx.store.transact(async (tx) => {
        if (c.builds === false) {
          const failure = { class: 'build' as const, code: 'KD_BUILD_FAILED', message: 'mm/memory.c:1: error: x' };
          await tx.update(kernel).set({ state: 'failed', failure }).where(eq(kernel.id, k.id));
        } else {
          let root = i;
          while (commits[root]?.commentOnly) root--;
          const loadHash = root < 0 ? k.sha! : `load${root}`;
          const [same] = await tx
            .select({ id: kernel.id })
            .from(kernel)
            .where(sql`load_hash = ${loadHash} and state = 'built' and same_as is null and id <> ${k.id}`);
          await tx
            .update(kernel)
            .set({ state: 'built', builtAt: new Date(), loadHash, sameAs: same?.id ?? null, compiler: 'gcc 12.2.0' })
            .where(eq(kernel.id, k.id));
          await insertArtifact(tx, { kernelId: k.id }, 'config', await ctx.artifacts.put('CONFIG_SMP=y\n'));
        }
        ctx.queued.push(...(await advancePairsOf(tx, k.id)));
      });
    }
    return wanted.length;
  };

  const bootAll = async () => {
    const open = await db
      .select({ boot, kernel })
      .from(boot)
      .innerJoin(kernel, eq(kernel.id, boot.kernelId))
      .where(sql`${boot.state} = 'wanted' and ${kernel.state} = 'built'`)
      .orderBy(asc(boot.id));
    for (const { boot: b, kernel: k } of open) {
      let root = shas.indexOf(k.sha!);
      while (commits[root]?.commentOnly) root--;
      const c = commitOf(shas[root] ?? k.sha!);
      await ctx.store.transact(async (tx) => {
        const ended = { hostId: 1, startedAt: new Date(), finishedAt: new Date() };
        if (c.boots === false) {
          const failure = { class: 'boot' as const, code: 'KD_BOOT_PANIC', message: 'Kernel panic' };
          await tx
            .update(boot)
            .set({ ...ended, state: 'failed', failure })
            .where(eq(boot.id, b.id));
        } else {
          await tx
            .update(boot)
            .set({ ...ended, state: 'done' })
            .where(eq(boot.id, b.id));
          const values = new Map([
            ['pft.faults_per_sec_per_cpu', c.level * jitter()],
            ['vmstat.pgfault', 1e6 * jitter()],
          ]);
          const kpis = new Set(['pft.faults_per_sec_per_cpu']);
          await saveBootMatrix(tx, { bootId: b.id, testcaseId: b.testcaseId, values, kpis });
          await insertArtifact(tx, { bootId: b.id }, 'reproduce', await ctx.artifacts.put('pft -m 64M -t 1\n'));
        }
        if (b.pairId) ctx.queued.push(...(await advancePair(tx, b.pairId)));
      });
    }
    return open.length;
  };

  return {
    treeId: treeRow!.id,
    testcaseId: tc!.id,
    shas,
    async plan(base, head) {
      const kernels = [];
      for (const i of [base, head]) {
        kernels.push(
          await wantKernel(db, {
            kind: 'kbuild',
            treeId: treeRow!.id,
            sha: shas[i]!,
            kconfig: 'tiny',
            kconfigHash: 'h',
          }),
        );
      }
      const { pair: made } = await wantPair(db, {
        treeId: treeRow!.id,
        branch: 'main',
        baseKernelId: kernels[0]!.id,
        headKernelId: kernels[1]!.id,
        testcaseId: tc!.id,
      });
      await ctx.store.transact((tx) => advancePair(tx, made.id));
      return made.id;
    },
    async settle({ buildAhead = true } = {}) {
      for (let turn = 0; turn < 200; turn++) {
        let did = (await buildAll(buildAhead ? -1 : 0)) + (await bootAll());
        for (const step of [judgeStep, bisectStep, reportStep, sendStep]) {
          for (const row of await step.due(db)) {
            did++;
            await runStep(ctx, step, row.id);
          }
        }
        if (did === 0) return;
      }
      throw new Error('the line did not come to rest in 200 turns');
    },
  };
}

/** Each commit adds a file of its own, so that any of them reverts cleanly. */
function makeMirror(dir: string, commits: LabCommit[]): string[] {
  const repo = mkdtempSync(join(tmpdir(), 'kd-lab-'));
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' };
  const run = (cwd: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.org', ...args], { cwd, env, stdio: 'pipe' })
      .toString()
      .trim();
  run(repo, 'init', '-q', '-b', 'main');
  const shas = commits.map((c, i) => {
    writeFileSync(join(repo, `f${i}`), `${c.level}\n`);
    run(repo, 'add', '.');
    run(repo, 'commit', '-q', '-m', c.subject);
    return run(repo, 'rev-parse', 'HEAD');
  });
  run(repo, 'clone', '-q', '--bare', repo, dir);
  rmSync(repo, { recursive: true, force: true });
  return shas;
}

export async function pairOf(ctx: TestContext, id: number) {
  const [row] = await ctx.db.select().from(pair).where(eq(pair.id, id));
  return row!;
}
