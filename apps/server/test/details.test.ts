import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheDir, homeDir } from '@kdelta/home';
import { insertArtifact, schema as t } from '@kdelta/store';
import { and, eq, isNull } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeRepo } from '../../../packages/git/test/repo.ts';
import { type Lab, openLab } from './lab.ts';

/* What is read when it is asked for: raw files for the samples inside boots, a mirror for the files of a commit. */
let lab: Lab;
let state: string;

beforeAll(async () => {
  state = mkdtempSync(join(tmpdir(), 'kdelta-details-'));
  lab = await openLab({ dirs: { home: homeDir(), state, cache: cacheDir() }, trees: ['linus'] });
});
afterAll(async () => {
  await lab.close();
  rmSync(state, { recursive: true, force: true });
});

const page = async (url: string) => {
  const answer = await lab.app.inject({ url, headers: { accept: 'text/html' } });
  expect(answer.statusCode, url).toBe(200);
  return answer.body;
};
const keep = async (bootId: number, name: string, text: string) =>
  insertArtifact(lab.store.db, { bootId }, name, await lab.artifacts.put(text));

describe('samples inside a boot', () => {
  it('are drawn over their clock, one line per boot of the pair', async () => {
    const pair = lab.ids.pairs.regression;
    const [judgement] = await lab.store.db.select().from(t.judgement).where(eq(t.judgement.pairId, pair));
    const { deltas } = (await lab.app.inject(`/api/v1/pairs/${pair}?q=proc-vmstat.`)).json() as {
      deltas: { metric: string }[];
    };
    const metric = deltas[0]!.metric;
    const name = metric.slice('proc-vmstat.'.length);
    const samples = (values: number[]) => values.map((v, i) => `time: ${10 + i}\n${name} ${v}\n`).join('');
    const [base, head] = [judgement!.baseBoots.at(-1)!, judgement!.headBoots.at(-1)!];
    const url = `/pairs/${pair}?m=${encodeURIComponent(metric)}`;
    expect(await page(url)).not.toContain('Inside the boots');
    await keep(base, 'proc-vmstat', samples([100, 110, 150, 160]));
    await keep(head, 'proc-vmstat', samples([500, 500, 520, 540]));
    const html = await page(url);
    expect(html).toContain('Inside the boots');
    const lines = [...html.matchAll(/<polyline class="(base|head)" points="([^"]+)"/g)].map((line) => line.slice(1));
    // By hand: the increments 10 40 10 and 0 20 20 after 1, 2, 3 s on one scale: x from 4 (0 s) to 716 (3 s), y from 134 (0) to 6 (40).
    expect(lines).toEqual([
      ['base', '241.3,102 478.7,6 716,102'],
      ['head', '241.3,134 478.7,70 716,70'],
    ]);
  });

  it('of one boot stand on its page; a metric without any, or a broken file, is said to have none', async () => {
    const boot = lab.ids.boots.done;
    await keep(boot, 'meminfo', 'time: 1\nMemFree: 100 kB\ntime: 3\nMemFree: 300 kB\ntime: 4\nMemFree: 200 kB\n');
    expect(await page(`/boots/${boot}?m=meminfo.MemFree`)).toContain('points="4,134 478.7,6 716,70"');
    for (const metric of ['meminfo.Nothing', 'no-such-program.x', 'constructor.x', '__proto__.x'])
      expect(await page(`/boots/${boot}?m=${metric}`)).toContain('It has one sample in this boot');
    await keep(boot, 'vmstat.gz', 'this is no gzip');
    expect(await page(`/boots/${boot}?m=vmstat.cpu.us`)).toContain('It has one sample in this boot');
  });
});

describe('a history', () => {
  it('of two branches is a series each, of the kernels of their pairs', async () => {
    const { db } = lab.store;
    const [pair] = await db.select().from(t.pair).where(eq(t.pair.id, lab.ids.pairs.regression));
    const of = async (branch: string) => {
      const url = `/api/v1/history?testcase=${pair!.testcaseId}&metric=${encodeURIComponent(lab.ids.kpi)}${branch}`;
      return (await lab.app.inject(url)).json().series as { branch?: string; kernels: number[]; boots: number[] }[];
    };
    const [all] = await of('');
    const [master, other] = await of(`&branch=${pair!.branch},no-such`);
    expect([master!.branch, other!.branch, other!.boots]).toEqual([pair!.branch, 'no-such', []]);
    const pairs = await db.select().from(t.pair).where(eq(t.pair.branch, pair!.branch!));
    const ends = pairs.flatMap((one) => [one.baseKernelId, one.headKernelId]);
    // The bisect's probes come to the ends of the pairs.
    expect(all!.kernels.filter((kernel) => ends.includes(kernel)).every((one) => master!.kernels.includes(one))).toBe(
      true,
    );
    expect(master!.kernels.some((kernel) => !ends.includes(kernel))).toBe(true);
    // Boots of one image stand under the kernel that was built first, which may be of no pair of the branch.
    const { headKernelId } = pair!;
    const [one] = await db.select().from(t.kernel).where(eq(t.kernel.id, headKernelId));
    const { id: _, ...likeIt } = one!;
    const [stranger] = await db
      .insert(t.kernel)
      .values({ ...likeIt, cmdline: 'as of another tree' })
      .returning({ id: t.kernel.id });
    await db
      .update(t.boot)
      .set({ kernelId: stranger!.id })
      .where(and(eq(t.boot.kernelId, headKernelId), isNull(t.boot.bisectId)));
    expect((await of(`&branch=${pair!.branch}`))[0]!.boots.length).toBeLessThan(master!.boots.length);
    await db.update(t.kernel).set({ sameAs: stranger!.id }).where(eq(t.kernel.id, headKernelId));
    expect((await of(`&branch=${pair!.branch}`))[0]!.boots).toEqual(master!.boots);
    await db.update(t.pair).set({ branch: 'next' }).where(eq(t.pair.branch, pair!.branch!));
    expect((await of(`&branch=${pair!.branch}`))[0]!.boots).toEqual([]);
    expect((await of('&branch=next'))[0]!.boots).toEqual(master!.boots);
    await db.update(t.pair).set({ branch: pair!.branch }).where(eq(t.pair.branch, 'next'));
    expect(await page(`/history?branch=${pair!.branch},no-such`)).toContain(`branch ${pair!.branch}`);
  });
});

describe('a commit’s page', () => {
  it('says which files it changes, as git does, with hostile names made visible', async () => {
    const repo = await makeRepo();
    const parent = await repo.commit('first', { 'mm/slub.c': 'a\nb\n' });
    const sha = await repo.commit('second', { 'mm/slub.c': 'a\nc\nd\n', 'evil\u001b[31m<b>.c': 'x\n' });
    mkdirSync(join(state, 'mirrors'), { recursive: true });
    repo.git('clone', '--quiet', '--bare', '.', join(state, 'mirrors/linus.git'));
    const person = {
      authorName: 'A',
      authorEmail: 'a@example.org',
      committerName: 'A',
      committerEmail: 'a@example.org',
    };
    const now = new Date();
    await lab.store.db.insert(t.commit).values(
      [sha, parent].map((one, i) => ({
        sha: one,
        parents: i === 0 ? [parent] : [],
        ...person,
        authoredAt: now,
        committedAt: now,
        subject: 'x',
        body: 'x',
      })),
    );
    const html = await page(`/commits/${sha}`);
    expect(html).toMatch(/mm\/slub\.c +\| +3 \+\+-/);
    expect(html).toContain('2 files changed, 3 insertions(+), 1 deletion(-)');
    expect(html).not.toMatch(/\u001b|<b>\.c/);
    // A root commit, and one that no mirror has, have no such list.
    expect(await page(`/commits/${parent}`)).not.toContain('Files <small>');
    await repo.remove();
  });
});
