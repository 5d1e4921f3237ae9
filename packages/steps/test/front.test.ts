import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetchMirror } from '@kdelta/git';
import { boot, branchHead, commit, host, kernel, loadMatrix, pair, recordHead, tree } from '@kdelta/store';
import { asc, eq, sql } from 'drizzle-orm';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { mirrorDir, reconcile, runStep, stepNamed } from '../src/index.ts';
import { createTestContext, type TestContext } from './context.ts';
import { fakeBoots, frontParts, makeRepo, type Repo } from './front.ts';

// From a pushed commit to a judged pair: real git, database, plan, judge; compiler and hosts are front.ts's.

// A test plans, builds, boots and judges with some hundred statements: slow on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const front = ['plan', 'build', 'boot', 'judge'] as const;
let ctx: TestContext;
let repo: Repo;
let state: string;
let treeId: number;

beforeEach(async () => {
  repo = makeRepo();
  state = mkdtempSync(join(tmpdir(), 'kd-front-'));
  ctx = await createTestContext(await frontParts(state, repo));
  const config = ctx.config.trees[0]!;
  const [row] = await ctx.db.insert(tree).values({ name: 'demo', url: repo.dir, config }).returning();
  treeId = row!.id;
});
afterEach(async () => {
  ctx.stop();
  await ctx.database.drop();
  rmSync(state, { recursive: true, force: true });
  repo.remove();
});

/** The branch's tip is fetched and everything that follows from it is done. */
async function push(branch = 'main'): Promise<void> {
  await fetchMirror({ dir: mirrorDir(ctx, 'demo'), url: repo.dir });
  const sha = repo.git('rev-parse', branch);
  const head = await ctx.store.transact((tx) => recordHead(tx, { treeId, branch, sha }));
  if (head) ctx.queued.push({ step: 'plan', id: head.id });
  await drain();
}

async function drain(): Promise<void> {
  for (let turn = 0; turn < 200; turn++) {
    const next = ctx.queued.shift();
    if (next) {
      if (front.includes(next.step as 'plan')) await runStep(ctx, stepNamed(next.step), next.id);
      continue;
    }
    const { offered } = await reconcile(ctx, front.map(stepNamed));
    if (offered === 0) return;
  }
  throw new Error('the line did not come to rest in 200 turns');
}

const pairs = () => ctx.db.select().from(pair).orderBy(asc(pair.id));
const witness = () =>
  existsSync(join(state, 'witness')) ? readFileSync(join(state, 'witness'), 'utf8').trim().split('\n') : [];
const shaOf = async (kernelId: number) => (await ctx.db.select().from(kernel).where(eq(kernel.id, kernelId)))[0]!.sha;

test('a new branch is compared with its merge base, the next head with the one before, interleaved on one host', async () => {
  const base = repo.commit('100000', 'base');
  repo.git('tag', 'base');
  const first = repo.commit('100001');
  await push();
  const second = repo.commit('90000');
  await push();

  const made = await pairs();
  expect(await Promise.all(made.map((p) => shaOf(p.baseKernelId)))).toEqual([base, first]);
  expect(await Promise.all(made.map((p) => shaOf(p.headKernelId)))).toEqual([first, second]);
  expect(made[1]).toMatchObject({ state: 'judged', verdict: 'regression' });
  const boots = await ctx.db.select().from(boot).where(eq(boot.pairId, made[0]!.id)).orderBy(asc(boot.id));
  // A B B A A B
  const order = boots.map((b) => (b.kernelId === made[0]!.baseKernelId ? 'A' : 'B')).join('');
  expect(order).toBe('ABBAAB');
  expect(new Set(boots.map((b) => b.hostId)).size).toBe(1);
  expect(boots.every((b) => b.state === 'done' && b.bootUuid !== null)).toBe(true);
  const matrix = await loadMatrix(ctx.db, [boots[0]!.id]);
  expect(matrix.metrics.get('pft.faults_per_sec')![0]).toBeCloseTo(100_000, -2);
  const commits = await ctx.db.select().from(commit).where(eq(commit.sha, second));
  expect(commits[0]).toMatchObject({ parents: [first], authorEmail: 'a@example.org', subject: '90000' });
});

test('a comment-only commit costs no boot and is judged the same kernel', async () => {
  repo.commit('100000', 'base');
  repo.git('tag', 'base');
  repo.commit('100000\n# a comment', 'comments');
  await push();
  expect(witness()).toEqual([]);
  expect((await pairs())[0]).toMatchObject({
    state: 'judged',
    verdict: 'same',
    line: 'no change: same kernel image',
  });
});

test("a head that doesn't build fails its pair with the log's error, and the next head is compared with the one before it", async () => {
  const base = repo.commit('100000', 'base');
  repo.git('tag', 'base');
  repo.commit('error');
  await push();
  const good = repo.commit('100002');
  await push();
  const made = await pairs();
  expect(made[0]).toMatchObject({ state: 'failed', failure: { class: 'build', message: 'speed:1: error: no' } });
  expect(await shaOf(made[1]!.baseKernelId)).toBe(base);
  expect(await shaOf(made[1]!.headKernelId)).toBe(good);
  expect(made[1]!.state).toBe('judged');
  const heads = await ctx.db.select().from(branchHead).orderBy(asc(branchHead.id));
  expect(heads[1]!.note).toBe('no earlier head of main builds and boots: the merge base with base');
});

test('a kernel that panics is booted twice, never six times, and passed over as a base', async () => {
  const base = repo.commit('100000', 'base');
  repo.git('tag', 'base');
  repo.commit('panic');
  await push();
  repo.commit('100002');
  await push();
  const made = await pairs();
  expect(made[0]).toMatchObject({ state: 'failed', failure: { class: 'boot' } });
  expect(made[0]!.line).toMatch(/^head doesn't boot: Kernel panic/);
  expect(witness().filter((line) => line.includes(' panic '))).toHaveLength(2);
  expect(await shaOf(made[1]!.baseKernelId)).toBe(base);
  const open = await ctx.db.select().from(boot).where(eq(boot.state, 'wanted'));
  expect(open).toEqual([]);
});

test('a head planned against one that then fails to build is planned again with an earlier one', async () => {
  const base = repo.commit('100000', 'base');
  repo.git('tag', 'base');
  repo.commit('error');
  await fetchMirror({ dir: mirrorDir(ctx, 'demo'), url: repo.dir });
  const seen = async () => {
    await fetchMirror({ dir: mirrorDir(ctx, 'demo'), url: repo.dir });
    const sha = repo.git('rev-parse', 'main');
    const head = await ctx.store.transact((tx) => recordHead(tx, { treeId, branch: 'main', sha }));
    await runStep(ctx, stepNamed('plan'), head!.id);
  };
  await seen();
  const good = repo.commit('100002');
  await seen();
  await drain();
  const made = await pairs();
  const judged = made.filter((p) => p.state === 'judged');
  expect(judged).toHaveLength(1);
  expect(await shaOf(judged[0]!.baseKernelId)).toBe(base);
  expect(await shaOf(judged[0]!.headKernelId)).toBe(good);
});

test('after history was rewritten a head is compared with its merge base with the baseline', async () => {
  const base = repo.commit('100000', 'base');
  repo.git('tag', 'base');
  repo.commit('100001');
  await push();
  repo.git('reset', '-q', '--hard', 'base');
  const rewritten = repo.commit('100003');
  await push();
  const last = (await pairs()).at(-1)!;
  expect([await shaOf(last.baseKernelId), await shaOf(last.headKernelId)]).toEqual([base, rewritten]);
  const heads = await ctx.db.select().from(branchHead).orderBy(asc(branchHead.id));
  expect(heads.at(-1)!.note).toBe('history was rewritten: the merge base with base');
});

test('a host that fails is no fault of the commit: the boot is repeated, at most three times', async () => {
  let left = 2;
  ctx.bootHost = fakeBoots(join(state, 'witness'), (speed) => (left-- > 0 ? 'infra' : speed));
  repo.commit('100000', 'base');
  repo.git('tag', 'base');
  repo.commit('100001');
  await push();
  const [made] = await pairs();
  expect(made!.state).toBe('judged');
  const boots = await ctx.db.select().from(boot).orderBy(asc(boot.id));
  expect(boots.filter((b) => b.failure?.class === 'infra')).toHaveLength(2);
  expect(boots.filter((b) => b.state === 'done')).toHaveLength(6);
});

test('boots that wait for a host which is taken out go to another of its group, and their block starts again', async () => {
  const boots = fakeBoots(join(state, 'witness'));
  let started = 0;
  ctx.bootHost = async (work, options) => {
    // Taken out by a person while it runs the second boot of six.
    if (++started === 2) {
      const [one] = await ctx.db.select().from(host);
      const { name, tboxGroup, config } = one!;
      await ctx.db.insert(host).values({ name: `${name}-2`, tboxGroup, config });
      await ctx.db.update(host).set({ state: 'maintenance' }).where(eq(host.id, one!.id));
    }
    return boots(work, options);
  };
  repo.commit('100000', 'base');
  repo.git('tag', 'base');
  repo.commit('100001');
  await push();
  const [made] = await pairs();
  expect(made!.state).toBe('judged');
  const all = await ctx.db.select().from(boot).orderBy(asc(boot.id));
  const [second] = await ctx.db.select().from(host).where(eq(host.name, 'qemu-icount-2'));
  const counted = all.filter((b) => b.pairId === made!.id && b.state === 'done');
  expect(counted.map((b) => b.hostId)).toEqual(Array(6).fill(second!.id));
  expect(all.filter((b) => b.pairId === null && b.state === 'done')).toHaveLength(2);
});

test('a host that never comes back ends the pair without a verdict', async () => {
  ctx.bootHost = fakeBoots(join(state, 'witness'), () => 'infra');
  repo.commit('100000', 'base');
  repo.git('tag', 'base');
  repo.commit('100001');
  await push();
  const [made] = await pairs();
  expect(made).toMatchObject({ state: 'failed', failure: { class: 'infra', message: 'no route to host' } });
  const boots = await ctx.db.select().from(boot);
  expect(boots.filter((b) => b.state === 'wanted')).toEqual([]);
});

test('a boot whose host was leased to another is thrown away, and neither the kernel nor a bug is blamed', async () => {
  const boots = fakeBoots(join(state, 'witness'));
  let stolen = false;
  ctx.bootHost = async (work, options) => {
    const result = await boots(work, options);
    // Someone else takes the host between the last sign of life and the last write.
    if (!stolen) await ctx.db.update(host).set({ epoch: sql`${host.epoch} + 1`, leaseOwner: null });
    stolen = true;
    return result;
  };
  repo.commit('100000', 'base');
  repo.git('tag', 'base');
  repo.commit('100001');
  await push();
  const [first] = await ctx.db.select().from(boot).orderBy(asc(boot.id));
  expect(first).toMatchObject({ failure: null, finishedAt: null });
  expect((await loadMatrix(ctx.db, [first!.id])).metrics.size).toBe(0);
  expect((await pairs())[0]!.state).toBe('booting');
});

test('an output that is cut short is a failed test without numbers', async () => {
  let first = true;
  ctx.bootHost = fakeBoots(join(state, 'witness'), (speed) => {
    const cut = first;
    first = false;
    return cut ? 'cut' : speed;
  });
  repo.commit('100000', 'base');
  repo.git('tag', 'base');
  repo.commit('100001');
  await push();
  const boots = await ctx.db.select().from(boot).orderBy(asc(boot.id));
  expect(boots[0]).toMatchObject({
    state: 'failed',
    failure: { class: 'test', code: 'KD_TEST_INCOMPLETE', excerpt: '   0    1' },
  });
  expect((await loadMatrix(ctx.db, [boots[0]!.id])).metrics.size).toBe(0);
  expect((await pairs())[0]!.state).toBe('judged');
});

test('a kernel without what the job needs is not booted, and the reason is said', async () => {
  const job = join(state, 'needs.yaml');
  writeFileSync(job, `${readFileSync(join(ctx.dirs.home, 'jobs/pft.yaml'), 'utf8')}\nneed_kconfig: [SMP, SWAP]\n`);
  const config = { ...ctx.config.trees[0]!, jobs: [job] };
  await ctx.db.update(tree).set({ config });
  repo.commit('100000', 'base');
  repo.git('tag', 'base');
  repo.commit('100001');
  await push();
  expect(witness()).toEqual([]);
  const [first] = await ctx.db.select().from(boot).orderBy(asc(boot.id));
  expect(first!.failure).toEqual({
    class: 'test',
    code: 'KD_TEST_NEEDS_KCONFIG',
    message: 'the kernel lacks what the job needs (need_kconfig): CONFIG_SWAP=y (is: n)',
  });
  expect((await pairs())[0]!.state).toBe('failed');
});

test('a tree whose job file is wrong is told so on its head, and nothing is planned', async () => {
  const config = { ...ctx.config.trees[0]!, jobs: ['pfft'] };
  await ctx.db.update(tree).set({ config });
  repo.commit('100000', 'base');
  repo.git('tag', 'base');
  repo.commit('100001');
  await push();
  const [head] = await ctx.db.select().from(branchHead);
  expect(head).toMatchObject({ state: 'skipped', note: 'no job pfft; did you mean pft?' });
  expect(await pairs()).toEqual([]);
});
