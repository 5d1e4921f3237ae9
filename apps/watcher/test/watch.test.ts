import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { branchHead, commit, event, pokeTree, tree } from '@kdelta/store';
import { asc, eq } from 'drizzle-orm';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createTestContext, type TestContext } from '../../../packages/steps/test/context.ts';
import { makeRepo, type Repo, treeConfig } from '../../../packages/steps/test/front.ts';
import { fetchTree, syncTrees, watchTrees } from '../src/index.ts';

vi.setConfig({ testTimeout: 60_000 });

let ctx: TestContext;
let repo: Repo;
let state: string;
beforeEach(async () => {
  repo = makeRepo();
  state = mkdtempSync(join(tmpdir(), 'kd-watch-'));
  ctx = await createTestContext({ dirs: { home: state, state, cache: state } });
  ctx.config.trees = [treeConfig(repo, { pollSeconds: 3600 })];
});
afterEach(async () => {
  ctx.stop();
  await ctx.database.drop();
  rmSync(state, { recursive: true, force: true });
  repo.remove();
});

const trees = () => ctx.db.select().from(tree).orderBy(asc(tree.id));
const heads = () => ctx.db.select().from(branchHead).orderBy(asc(branchHead.id));
const fetchAll = async () => {
  for (const row of await trees()) if (row.active) await fetchTree(ctx, row);
};
async function until(ready: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 400 && !(await ready()); i++) await new Promise((resolve) => setTimeout(resolve, 50));
}

test('a new head is recorded once, with its commits, authors and parents, and planned', async () => {
  const base = repo.commit('1', 'base');
  repo.git('tag', 'base');
  const head = repo.commit('2', 'mm: two');
  await syncTrees(ctx);
  await fetchAll();
  await fetchAll();
  expect((await heads()).map((row) => row.sha)).toEqual([head]);
  expect(ctx.queued).toEqual([{ step: 'plan', id: 1 }]);
  const [row] = await ctx.db.select().from(commit).where(eq(commit.sha, head));
  expect(row).toMatchObject({ parents: [base], authorName: 'A', authorEmail: 'a@example.org', subject: 'mm: two' });
});

test('a head that moves back to an earlier commit is a new head', async () => {
  repo.commit('1', 'base');
  repo.git('tag', 'base');
  const first = repo.commit('2');
  await syncTrees(ctx);
  await fetchAll();
  const second = repo.commit('3');
  await fetchAll();
  repo.git('reset', '-q', '--hard', first);
  await fetchAll();
  expect((await heads()).map((row) => row.sha)).toEqual([first, second, first]);
});

test("a tree that can't be fetched is reported once and put off for longer each time; the others go on", async () => {
  const other = makeRepo();
  other.commit('1', 'base');
  other.git('tag', 'base');
  other.commit('2');
  ctx.config.trees = [
    treeConfig(repo, { url: join(repo.dir, 'nowhere'), pollSeconds: 10 }),
    treeConfig(other, { name: 'other', pollSeconds: 10 }),
  ];
  await syncTrees(ctx);
  await fetchAll();
  await fetchAll();
  const [broken, good] = await trees();
  expect(broken).toMatchObject({ name: 'demo', fetchFailures: 2 });
  expect(broken!.fetchError).toMatch(/^can't fetch /);
  // 10 s × 2²
  expect((broken!.nextFetchAt.getTime() - Date.now()) / 1000).toBeGreaterThan(25);
  expect(good).toMatchObject({ fetchFailures: 0, fetchError: null });
  expect(await heads()).toHaveLength(1);
  const failures = await ctx.db.select().from(event).where(eq(event.kind, 'tree.fetch-failed'));
  expect(failures).toHaveLength(1);
});

test('a branch that is not there is named', async () => {
  repo.commit('1', 'base');
  ctx.config.trees = [treeConfig(repo, { branches: ['main', 'next'] })];
  await syncTrees(ctx);
  await fetchAll();
  expect((await trees())[0]!.fetchError).toBe('no branch next');
});

test('a tree that left kdelta.yaml is kept and no longer watched', async () => {
  await syncTrees(ctx);
  ctx.config.trees = [];
  await syncTrees(ctx);
  expect((await trees()).map((row) => [row.name, row.active])).toEqual([['demo', false]]);
});

test('a poked tree is fetched at once, not when its time comes', async () => {
  repo.commit('1', 'base');
  repo.git('tag', 'base');
  repo.commit('2');
  const watching = watchTrees(ctx);
  await until(async () => (await heads()).length === 1);
  const head = repo.commit('3');
  await pokeTree(ctx.store.pool, 'demo');
  await until(async () => (await heads()).length === 2);
  expect((await heads()).at(-1)!.sha).toBe(head);
  ctx.stop();
  await watching;
});

test('a tree that comes back is fetched again and its error is gone', async () => {
  repo.commit('1', 'base');
  renameSync(repo.dir, `${repo.dir}.away`);
  await syncTrees(ctx);
  await fetchAll();
  expect((await trees())[0]!.fetchFailures).toBe(1);
  renameSync(`${repo.dir}.away`, repo.dir);
  await fetchAll();
  expect((await trees())[0]).toMatchObject({ fetchFailures: 0, fetchError: null });
});
