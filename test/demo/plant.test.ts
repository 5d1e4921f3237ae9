import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { changedFiles, listHeads, readCommit, readRange, runGit } from '@kdelta/git';
import { cacheDir } from '@kdelta/home';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BaseTree, cloneBase, makeBaseTree, plantCommits, pushCommit } from './makeTree.ts';

let base: BaseTree | null = null;
let dir = '';
let repo = '';

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'kdelta-plant-test-'));
  base = await makeBaseTree({ cacheDir: cacheDir() }).catch((error: Error) => {
    console.warn(`skipped: ${error.message}`);
    return null;
  });
  repo = join(dir, 'developer.git');
  if (base) await cloneBase(base, repo);
}, 180_000);

afterAll(async () => {
  base?.hold.release();
  await rm(dir, { recursive: true, force: true });
});

describe('the demo tree', () => {
  it('is the same for the same seed and another for another', async (context) => {
    if (!base) return context.skip();
    const one = await plantCommits(repo, base, { seed: '7' });
    const again = await plantCommits(repo, base, { seed: '7' });
    const other = await plantCommits(repo, base, { seed: '8' });
    expect(again).toEqual(one);
    expect(other.head).not.toBe(one.head);
    expect(one.commits).toHaveLength(12);
  });

  it('plants one culprit, one comment-only and one broken commit that the next one mends, in any draw', async (context) => {
    if (!base) return context.skip();
    for (let seed = 0; seed < 6; seed++) {
      const { commits, culprit, slowdownPct } = await plantCommits(repo, base, { seed: `draw ${seed}` });
      const kinds = commits.map((commit) => commit.kind);
      expect(kinds.filter((kind) => kind === 'culprit')).toHaveLength(1);
      expect(kinds.filter((kind) => kind === 'comment-only')).toHaveLength(1);
      expect(kinds[kinds.indexOf('broken') + 1]).toBe('mended');
      expect([kinds[0], kinds[11]]).toEqual(['neighbour', 'neighbour']);
      expect(culprit!.file).toBe('mm/memory.c');
      expect(slowdownPct).toBeGreaterThanOrEqual(5);
      expect(slowdownPct).toBeLessThanOrEqual(40);
      const facts = await readCommit(repo, culprit!.sha);
      expect(facts.author.email).toMatch(/@example\.org$/);
      expect(facts.trailers).toContainEqual({
        key: 'Signed-off-by',
        value: `${facts.author.name} <${facts.author.email}>`,
      });
      expect(await changedFiles(repo, culprit!.sha)).toEqual([{ status: 'M', path: 'mm/memory.c' }]);
    }
  });

  it('plants nothing that slows when told so', async (context) => {
    if (!base) return context.skip();
    const planted = await plantCommits(repo, base, { seed: '7', culprit: false });
    expect(planted.culprit).toBeNull();
    expect(planted.commits.some((commit) => commit.file === 'mm/memory.c')).toBe(false);
  });

  it('hides the culprit behind a merge when asked, with 24 commits', async (context) => {
    if (!base) return context.skip();
    const planted = await plantCommits(repo, base, { seed: '24', count: 24, topicBranch: true, panicking: true });
    expect(planted.commits).toHaveLength(24);
    const all = await readRange(repo, base.sha, planted.head);
    const mainLine = await readRange(repo, base.sha, planted.head, { firstParent: true });
    expect(all).toHaveLength(24);
    expect(all.map((commit) => commit.sha)).toContain(planted.culprit!.sha);
    expect(mainLine.map((commit) => commit.sha)).not.toContain(planted.culprit!.sha);
    const merges = planted.commits.filter((commit) => commit.parents.length === 2);
    expect(merges.map((commit) => commit.kind)).toEqual(['merge']);
    const culpritText = await runGit(['show', `${planted.head}:mm/memory.c`], { gitDir: repo });
    expect(culpritText).toContain('static noinline void anon_page_');
  });

  it('is pushed to a watched repository commit by commit', async (context) => {
    if (!base) return context.skip();
    const watched = join(dir, 'watched.git');
    await cloneBase(base, watched);
    const { commits, head } = await plantCommits(repo, base, { seed: '7' });
    await pushCommit(repo, commits[3]!.sha, watched);
    expect((await listHeads(watched)).get('master')).toBe(commits[3]!.sha);
    await pushCommit(repo, head, watched);
    expect((await listHeads(watched)).get('master')).toBe(head);
  });
});
