/**
 * A small lab for tests of pages and for screenshots: two trees, four hosts, real judgements over recorded boots, a
 * finished and a running bisect, reports in several states, failures of each class. Written through the store and judged
 * and searched by the real judge and the real bisect; only the boots themselves are replayed.
 */
import { createSearch, next, observe, posterior, untestable } from '@kdelta/bisect';
import { buildRegistry, type Matrix } from '@kdelta/matrix';
import { JUDGE_VERSION, judge } from '@kdelta/stats';
import { rebuildNoise } from '@kdelta/steps';
import {
  type ArtifactStore,
  appendEvent,
  metricIds,
  packJudgement,
  type Store,
  saveBootMatrix,
  schema as t,
} from '@kdelta/store';
import { eq } from 'drizzle-orm';
import { moreBoots, recordedMatrix } from './matrices.ts';
import { hex, normal, randomFrom } from './random.ts';

export interface SeededLab {
  pairs: { regression: number; same: number; failed: number; running: number; tcg: number };
  bisects: { done: number; running: number };
  reports: { draft: number; sent: number };
  kernels: { base: number; head: number; failed: number };
  boots: { done: number; running: number; panic: number };
  testcases: { icount: number; tcg: number };
  shas: string[];
  kpi: string;
}

const KPI = 'dbench.throughput_MB/s';
const REGISTRY = buildRegistry([
  {
    name: 'dbench',
    metrics: { 'throughput_MB/s': { unit: 'MB/s', better: 'higher', kpi: true, kind: 'performance' } },
  },
  { name: 'pf', metrics: { '/./': { unit: '1/s', better: 'higher', kpi: true, kind: 'performance' } } },
]);

const SUBJECTS: [subject: string, author: string][] = [
  ['mm: page_alloc: split the free path of order-0 pages', 'Mara Lindqvist'],
  ['slub: keep a per-cpu list of partial slabs', 'Tomasz Kowal'],
  ['fs: namei: fewer reference counts on the fast path', 'Irene Adjei'],
  ['Documentation: mm: describe the zone watermarks', 'Pavel Horák'],
  ['sched/fair: count the idle cores once per tick', 'Mara Lindqvist'],
  ['mm: vmstat: fold per-cpu deltas in one pass', 'Rui Nakashima'],
  ['net: core: drop an unused argument', 'Noor Haddad'],
  ['mm: clear pages before they are handed out', 'Tomasz Kowal'],
  ['lib: xarray: unroll the first level', 'Irene Adjei'],
  ['x86/mm: print the page table levels at boot', 'Pavel Horák'],
  ['kconfig: sort the help texts', 'Noor Haddad'],
  ['ext4: <script>alert("x")</script> & "quotes" in a subject', 'Rui Nakashima'],
  ['tools: \u202Eevil direction\u202C marks', 'Noor Haddad'],
  ['block: batch the completion of polled requests', 'Mara Lindqvist'],
];

export async function seedLab(
  store: Store,
  artifacts: ArtifactStore,
  options: { now?: Date } = {},
): Promise<SeededLab> {
  const random = randomFrom(6_12);
  const now = options.now ?? new Date();
  const at = (minutesAgo: number) => new Date(now.getTime() - minutesAgo * 60_000);
  const { db } = store;
  const insert = async <T extends { id: number }>(rows: Promise<T[]>): Promise<number> => (await rows)[0]!.id;

  // trees and commits
  const treeId = await insert(
    db
      .insert(t.tree)
      .values({
        name: 'linus',
        url: 'https://git.kernel.org/pub/scm/linux/kernel/git/torvalds/linux.git',
        config: { branches: ['master'], jobs: ['dbench'], hosts: ['qemu-icount', 'qemu-tcg'] },
        fetchedAt: at(2),
      })
      .returning(),
  );
  await db.insert(t.tree).values({
    name: 'mm',
    url: 'https://git.example.org/mm.git',
    config: { branches: ['mm-unstable'], jobs: ['pft'], hosts: ['qemu-icount'] },
    fetchError: 'could not resolve host git.example.org',
    fetchFailures: 3,
    fetchedAt: at(300),
    nextFetchAt: at(-6),
  });
  const shas = SUBJECTS.map(() => hex(random, 40));
  const root = hex(random, 40);
  await db.insert(t.commit).values(
    [root, ...shas].map((sha, i) => {
      const [subject, author] = i === 0 ? ['Linux 6.12', 'Ada Release'] : SUBJECTS[i - 1]!;
      const email = `${author!.split(' ')[0]!.toLowerCase()}@example.org`;
      return {
        sha,
        parents: i === 0 ? [] : [i === 1 ? root : shas[i - 2]!],
        authorName: author!,
        authorEmail: email,
        committerName: author!,
        committerEmail: email,
        authoredAt: at(3000 - i * 20),
        committedAt: at(2990 - i * 20),
        subject: subject!,
        body: `${subject}\n\nA longer text that says why.\n\nSigned-off-by: ${author} <${email}>\n`,
      };
    }),
  );
  await db.insert(t.branchHead).values([
    { treeId, branch: 'master', sha: root, seenAt: at(2000), state: 'planned' as const },
    { treeId, branch: 'master', sha: shas.at(-1)!, seenAt: at(200), state: 'planned' as const },
  ]);

  // hosts and testcases
  const hosts = new Map<string, number>();
  for (const [name, state, health] of [
    ['qemu-icount', 'leased', { boots: 41, noise_pct: 0.02 }],
    ['qemu-tcg', 'idle', { boots: 38, noise_pct: 6.1 }],
    ['ivb44', 'maintenance', { ssh: 'ok' }],
    ['box7', 'quarantined', { ssh: 'refused' }],
  ] as const) {
    const id = await insert(
      db
        .insert(t.host)
        .values({
          name,
          tboxGroup: name,
          state,
          health,
          config: {
            nr_cpu: name === 'ivb44' ? 48 : 1,
            memory: '1G',
            boot: { method: name.startsWith('qemu') ? 'qemu' : 'kexec' },
          },
          note:
            state === 'quarantined'
              ? 'three boots in a row never came up'
              : state === 'maintenance'
                ? 'new disk'
                : null,
        })
        .returning(),
    );
    hosts.set(name, id);
  }
  const testcaseOf = (tbox: string, program: string, deterministic: boolean) =>
    insert(
      db
        .insert(t.testcase)
        .values({
          key: hex(random, 12),
          name: `${program}-100%-6s`,
          program,
          tboxGroup: tbox,
          params: { nr_threads: '100%', runtime: '6s' },
          versions: { rootfs: 'debian-bookworm-1f2e', qemu: '7.2.15', [program]: '4.0' },
          job: {},
          jobYaml: `suite: ${program}\ntestcase: ${program}\ncategory: benchmark\n\nnr_threads: 100%\nruntime: 6s\n${program}:\n  loadfile: client.txt\n`,
          deterministic,
        })
        .returning(),
    );
  const icount = await testcaseOf('qemu-icount', 'dbench', true);
  const tcg = await testcaseOf('qemu-tcg', 'dbench', false);

  // kernels
  const kernelOf = async (sha: string | null, more: Partial<typeof t.kernel.$inferInsert> = {}) =>
    insert(
      db
        .insert(t.kernel)
        .values({
          kind: sha ? 'kbuild' : 'deb',
          treeId: sha ? treeId : null,
          sha,
          kconfig: 'x86_64-kdelta+virtio',
          kconfigHash: 'c0ffee12c0ffee12',
          compiler: 'gcc 12.2.0',
          state: 'built',
          buildKey: hex(random, 12),
          release: `6.12.0-kd${hex(random, 12)}`,
          buildId: hex(random, 40),
          loadHash: hex(random, 64),
          imageBytes: 11_234_560 + Math.floor(random() * 1000),
          buildMs: 93_000,
          builtAt: at(1900),
          ...more,
        })
        .returning(),
    );
  const base = await kernelOf(root);
  const head = await kernelOf(shas.at(-1)!);
  const buildLog =
    'drivers/foo/bar.c: In function ‘bar_probe’:\ndrivers/foo/bar.c:42:9: error: implicit declaration of function ‘bar_init’ [-Werror=implicit-function-declaration]\n   42 |         bar_init(dev);\n      |         ^~~~~~~~\ncc1: some warnings being treated as errors\n';
  const failedKernel = await kernelOf(shas[9]!, {
    state: 'failed',
    release: null,
    failure: {
      class: 'build',
      code: 'KD_BUILD_FAILED',
      message: 'drivers/foo/bar.c:42:9: error: implicit declaration of function ‘bar_init’',
      excerpt: buildLog,
    },
  });
  const keep = async (owner: object, name: string, text: string) => {
    const stored = await artifacts.put(text);
    await db.insert(t.artifact).values({ ...owner, name, sha256: stored.sha256, bytes: stored.bytes });
  };
  await keep({ kernelId: failedKernel }, 'build.log', buildLog);
  const config = (hz: number, debug: boolean) =>
    `CONFIG_64BIT=y\nCONFIG_HZ=${hz}\n${debug ? 'CONFIG_DEBUG_VM=y' : '# CONFIG_DEBUG_VM is not set'}\nCONFIG_SLUB=y\nCONFIG_VIRTIO=y\n`;
  await keep({ kernelId: base }, 'config', config(250, false));
  await keep({ kernelId: head }, 'config', config(250, true));
  await keep({ kernelId: base }, 'build.log', '  CC      mm/page_alloc.o\n  LD      vmlinux\n');
  await keep({ kernelId: head }, 'build.log', '  CC      mm/page_alloc.o\n  CC      mm/slub.o\n  LD      vmlinux\n');

  // boots with numbers
  let clock = 1800;
  const bootOf = async (
    kernelId: number,
    testcaseId: number,
    host: string,
    matrix: Matrix | null,
    column: number,
    more: Partial<typeof t.boot.$inferInsert> = {},
  ) => {
    const startedAt = at(clock);
    clock -= 1.4;
    const ms = startedAt.getTime();
    const id = await insert(
      db
        .insert(t.boot)
        .values({
          kernelId,
          testcaseId,
          hostId: hosts.get(host)!,
          state: 'done',
          seq: column,
          bootUuid: `${hex(random, 8)}-${hex(random, 4)}-${hex(random, 4)}-${hex(random, 4)}-${hex(random, 12)}`,
          startedAt,
          finishedAt: new Date(ms + 61_000 + random() * 5000),
          wantedAt: at(clock + 30),
          environment: {
            MemTotal: '1014212 kB',
            cpus: '1',
            microcode: '0x1',
            clocksource: 'tsc',
            governor: 'not available',
          },
          timeline: [
            [0, 'lease qemu-icount'],
            [0.2, 'qemu started'],
            [8.4, 'first login, boot_id and token are right'],
            [8.9, 'setup: cpufreq_governor: not available'],
            [9.2, 'monitors started: proc-vmstat meminfo vmstat interrupts softirqs slabinfo'],
            [9.4, 'dbench started'],
            [58.3, 'dbench ended, status 0'],
            [59.7, 'collected 214 kB'],
            [60.4, 'released'],
          ].map(([s, what]) => ({ at: ms + Number(s) * 1000, what: String(what) })),
          ...more,
        })
        .returning(),
    );
    if (matrix) {
      const values = new Map<string, number>();
      for (const [metric, line] of matrix.metrics)
        if (line[column] !== null && line[column] !== undefined) values.set(metric, line[column]!);
      await db.transaction((tx) =>
        saveBootMatrix(tx as never, {
          bootId: id,
          testcaseId,
          values,
          kpis: new Set([...values.keys()].filter((name) => REGISTRY.lookup(name).kpi)),
        }),
      );
    }
    return id;
  };
  const consoleText =
    '[    0.000000] Linux version 6.12.0 (kdelta@build)\n[    0.312000] \u001b[31mred text of a driver\u001b[0m\n[    1.904000] Run /sbin/init as init process\nDebian GNU/Linux 12 kdelta ttyS0\n\nkdelta login:\n';
  const reproduce = '#!/bin/sh\n# as it ran\n\ndbench -t 6 -c /usr/share/dbench/client.txt 1\n';

  const pairOf = async (
    testcaseId: number,
    host: string,
    kernels: { base: number; head: number },
    matrices: { base: Matrix; head: Matrix },
    more: Partial<typeof t.pair.$inferInsert> = {},
  ) => {
    const pairId = await insert(
      db
        .insert(t.pair)
        .values({
          treeId,
          branch: 'master',
          baseKernelId: kernels.base,
          headKernelId: kernels.head,
          testcaseId,
          state: 'judged',
          looks: 1,
          plannedAt: at(clock + 20),
          ...more,
        })
        .returning(),
    );
    const ids = { base: [] as number[], head: [] as number[] };
    const n = Math.max(matrices.base.boots.length, matrices.head.boots.length);
    for (let i = 0; i < n; i++)
      for (const side of i % 2 ? (['head', 'base'] as const) : (['base', 'head'] as const))
        if (i < matrices[side].boots.length)
          ids[side].push(await bootOf(kernels[side], testcaseId, host, matrices[side], i, { pairId }));
    for (const bootId of [...ids.base, ...ids.head]) {
      await keep({ bootId }, 'console.log', consoleText);
      await keep({ bootId }, 'reproduce', reproduce);
      await keep({ bootId }, 'raw.tar.gz', `not really an archive ${bootId % 3}`);
    }
    const judgement = judge({
      base: matrices.base,
      head: matrices.head,
      registry: REGISTRY,
      deterministic: host === 'qemu-icount',
    });
    const judgementId = await insert(
      db
        .insert(t.judgement)
        .values({
          pairId,
          baseKernelId: kernels.base,
          headKernelId: kernels.head,
          testcaseId,
          baseBoots: ids.base,
          headBoots: ids.head,
          historyCutoff: ids.base[0]!,
          judgeVersion: JUDGE_VERSION,
          verdict: judgement.verdict,
          line: judgement.line,
          packed: packJudgement(judgement),
          madeAt: at(clock),
        })
        .returning(),
    );
    const told = judgement.deltas.filter((delta) => delta.kpi || !['same', 'inconclusive'].includes(delta.verdict));
    const metrics = await metricIds(
      db as never,
      told.map((delta) => delta.metric),
    );
    if (told.length)
      await db.insert(t.delta).values(
        told.map((delta) => ({
          judgementId,
          metricId: metrics.get(delta.metric)!,
          kpi: delta.kpi,
          verdict: delta.verdict,
          changePct: delta.changePct,
          flags: delta.flags,
        })),
      );
    await db
      .update(t.pair)
      .set({ judgementId, verdict: judgement.verdict, line: judgement.line, judgedAt: at(clock) })
      .where(eq(t.pair.id, pairId));
    return { pairId, judgementId, ids };
  };

  const icountBase = recordedMatrix('icount-base', random);
  const icountHead = recordedMatrix('icount-initalloc', random);
  // History of earlier heads, so that a history page has something to draw.
  for (let i = 1; i < 6; i++) {
    const earlier = await kernelOf(shas[i - 1]!);
    const matrix = moreBoots(icountBase, 3, random);
    for (let b = 0; b < 3; b++) await bootOf(earlier, icount, 'qemu-icount', matrix, b);
  }
  const bad = await pairOf(icount, 'qemu-icount', { base, head }, { base: icountBase, head: icountHead });
  const slow = await pairOf(
    tcg,
    'qemu-tcg',
    { base, head },
    { base: recordedMatrix('base', random), head: recordedMatrix('initalloc', random) },
  );
  const nullKernel = await kernelOf(shas[3]!, { cmdline: 'slub_debug=F' });
  const same = await pairOf(
    icount,
    'qemu-icount',
    { base, head: nullKernel },
    { base: moreBoots(icountBase, 5, random), head: recordedMatrix('icount-slubdebug', random) },
  );
  const failed = await insert(
    db
      .insert(t.pair)
      .values({
        treeId,
        branch: 'master',
        baseKernelId: base,
        headKernelId: failedKernel,
        testcaseId: icount,
        state: 'failed',
        failure: {
          class: 'build',
          code: 'KD_BUILD_FAILED',
          message: `${shas[9]!.slice(0, 12)} does not build`,
          excerpt: buildLog,
        },
        plannedAt: at(190),
      })
      .returning(),
  );
  const panicKernel = await kernelOf(shas[12]!);
  const panic = await bootOf(panicKernel, icount, 'qemu-icount', null, 0, {
    state: 'failed',
    failure: {
      class: 'boot',
      code: 'KD_BOOT_PANIC',
      message: 'the kernel panicked 1.9 s after its start',
      excerpt:
        '[    1.904000] Kernel panic - not syncing: \u001b[1mAttempted to kill init!\u001b[0m exitcode=0x00000b00\n[    1.904000] CPU: 0 UID: 0 PID: 1 Comm: init\n',
    },
  });
  await keep(
    { bootId: panic },
    'console.log',
    `${consoleText}[    1.904000] Kernel panic - not syncing: Attempted to kill init!\n`,
  );
  const nextKernel = await kernelOf(shas[11]!);
  const running = await insert(
    db
      .insert(t.pair)
      .values({
        treeId,
        branch: 'master',
        baseKernelId: head,
        headKernelId: nextKernel,
        testcaseId: icount,
        state: 'booting',
        plannedAt: at(4),
      })
      .returning(),
  );
  const runningBoot = await bootOf(nextKernel, icount, 'qemu-icount', null, 0, {
    pairId: running,
    state: 'running',
    startedAt: at(0.6),
    finishedAt: null,
    progress: { phase: 'dbench', fraction: 0.42, etaSeconds: 31 },
    timeline: [{ at: at(0.6).getTime(), what: 'qemu started' }],
  });
  await db
    .update(t.host)
    .set({ leaseBootId: runningBoot, leaseUntil: at(-1) })
    .where(eq(t.host.name, 'qemu-icount'));
  for (let i = 0; i < 5; i++)
    await db.insert(t.boot).values({
      kernelId: i % 2 ? head : nextKernel,
      testcaseId: icount,
      pairId: running,
      seq: i + 1,
      wantedAt: at(4),
    });

  const mean = (matrix: Matrix) => {
    const values = matrix.metrics.get(KPI)!.filter((v): v is number => v !== null);
    return values.reduce((a, b) => a + b, 0) / values.length;
  };
  const level = { old: mean(icountBase), new: mean(icountHead) };
  // bisects: the real search over replayed numbers
  const kpiId = (await metricIds(db as never, [KPI])).get(KPI)!;
  const bisect = async (stopAfter: number | null, pairId: number | null) => {
    const culprit = shas[7]!;
    const search = createSearch({
      commits: [root, ...shas].map((sha, i) => ({ sha, parents: i ? [i === 1 ? root : shas[i - 2]!] : [] })),
      good: root,
      bad: shas.at(-1)!,
      direction: -1,
      noise: { sd: 0.002, df: 20 },
      certainty: 0.95,
      budget: 40,
    });
    const id = await insert(
      db
        .insert(t.bisect)
        .values({
          treeId,
          goodSha: root,
          badSha: shas.at(-1)!,
          testcaseId: icount,
          metricId: kpiId,
          pairId,
          state: stopAfter === null ? 'done' : 'running',
          askedBy: stopAfter === null ? 'bot' : 'token:mara',
          askedAt: at(120),
        })
        .returning(),
    );
    const read = () => Object.fromEntries(posterior(search));
    let seq = 0;
    for (;;) {
      const step = next(search);
      if (step.kind === 'done' || step.kind === 'refused' || (stopAfter !== null && seq >= stopAfter)) {
        await db
          .update(t.bisect)
          .set({
            posterior: read(),
            untestable: { [shas[9]!]: 'does not build: drivers/foo/bar.c:42:9' },
            ...(step.kind === 'done' && stopAfter === null
              ? {
                  culpritSha: step.culprit,
                  endedAt: at(80),
                  result: {
                    certainty: step.certainty,
                    stepPct: step.step?.pct,
                    ci95Pct: step.step?.ci95,
                    reason: 'verified against its parent',
                  },
                }
              : {}),
          })
          .where(eq(t.bisect.id, id));
        return id;
      }
      for (const probe of step.probes) {
        const before = read();
        const index = shas.indexOf(probe.sha);
        const row = {
          bisectId: id,
          seq: ++seq,
          sha: probe.sha,
          why: step.why,
          boots: probe.boots,
          posteriorBefore: before,
          at: at(118 - seq),
        };
        if (index === 9) {
          untestable(search, probe.sha);
          await db
            .insert(t.bisectProbe)
            .values({ ...row, kernelId: failedKernel, bootIds: [], state: 'untestable', posteriorAfter: read() });
          continue;
        }
        const isNew = index >= shas.indexOf(culprit);
        const values = Array.from({ length: probe.boots }, () =>
          Number(((isNew ? level.new : level.old) * (1 + 0.002 * normal(random))).toFixed(3)),
        );
        observe(search, { sha: probe.sha, values, session: 's', verify: step.kind === 'verify' });
        const [kernel] = await db
          .select({ id: t.kernel.id })
          .from(t.kernel)
          .where(eq(t.kernel.sha, probe.sha))
          .limit(1);
        const kernelId = kernel?.id ?? (await kernelOf(probe.sha));
        const bootIds: number[] = [];
        for (const value of values)
          bootIds.push(
            await bootOf(kernelId, icount, 'qemu-icount', { boots: ['x'], metrics: new Map([[KPI, [value]]]) }, 0, {
              bisectId: id,
            }),
          );
        await db
          .insert(t.bisectProbe)
          .values({ ...row, kernelId, bootIds, values, state: 'done', posteriorAfter: read() });
        await appendEvent(store.pool, {
          kind: 'bisect.probe',
          subject: `bisect:${id}`,
          data: { seq, sha: probe.sha, boots: probe.boots },
        });
      }
    }
  };
  const done = await bisect(null, bad.pairId);
  const runningBisect = await bisect(3, null);
  await db.update(t.pair).set({ bisectId: done }).where(eq(t.pair.id, bad.pairId));

  // reports
  const body = (sha: string) =>
    `Hello,\n\nkdelta measured a 27.4% regression of ${KPI}, caused by\n\ncommit: ${sha} ("${SUBJECTS[7]![0]}")\ntree:   linus/master\n\nHow sure\n  culprit     99.1% after 22 boots of 9 kernels\n  verified    culprit against its parent: 3 + 3 boots, interleaved, one host\n\n         %stddev     %change         %stddev\n             \\          |                \\\n    325.11 ±  0%     -27.4%     236.02 ±  0%  ${KPI}\n\n-- \nkdelta at Example Lab\n`;
  const reportOf = async (
    state: 'draft' | 'sent' | 'rejected',
    kind: 'regression' | 'improvement' | 'build',
    sha: string,
    more: object = {},
  ) => {
    const id = await insert(
      db
        .insert(t.report)
        .values({
          kind,
          state,
          treeId,
          culpritSha: sha,
          pairId: bad.pairId,
          bisectId: done,
          judgementId: bad.judgementId,
          subject: `[linus:master] [mm] ${sha.slice(0, 10)}: ${KPI} 27.4% regression`,
          body: body(sha),
          to: ['Tomasz Kowal <tomasz@example.org>'],
          cc: ['linux-mm@example.org'],
          dropped: [{ address: 'stable@example.net', why: 'not on the allow-list' }],
          messageId: `<kd.20260814.r${hex(random, 8)}.1@bot.example.org>`,
          createdAt: at(70),
          stateAt: at(60),
          ...more,
        })
        .returning(),
    );
    await appendEvent(store.pool, { kind: 'report.drafted', subject: `report:${id}` });
    await keep({ reportId: id }, 'reproduce', reproduce);
    return id;
  };
  const draft = await reportOf('draft', 'regression', shas[7]!);
  const sent = await reportOf('sent', 'build', shas[9]!, {
    subject: `[linus:master] ${shas[9]!.slice(0, 10)}: build failure: drivers/foo/bar.c`,
  });
  await appendEvent(store.pool, {
    kind: 'report.approve',
    subject: `report:${sent}`,
    actor: 'token:mara',
    data: { reason: 'looks right' },
  });
  await db.insert(t.outbox).values({
    reportId: sent,
    messageId: `<kd.${sent}@bot.example.org>`,
    envelopeFrom: 'kdelta@bot.example.org',
    envelopeTo: ['tomasz@example.org'],
    raw: Buffer.from('x'),
    state: 'sent',
    response: '250 2.0.0 Ok: queued as 4F1E2D',
    sentAt: at(58),
  });

  await rebuildNoise(store, REGISTRY);
  return {
    pairs: { regression: bad.pairId, same: same.pairId, failed, running, tcg: slow.pairId },
    bisects: { done, running: runningBisect },
    reports: { draft, sent },
    kernels: { base, head, failed: failedKernel },
    boots: { done: bad.ids.head[0]!, running: runningBoot, panic },
    testcases: { icount, tcg },
    shas,
    kpi: KPI,
  };
}
