import { execFileSync } from 'node:child_process';
import { access, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkoutCommit, checkUrl, fetchMirror, listHeads, runGit } from '../src/index.ts';
import { makeRepo, type Repo } from './repo.ts';

let repo: Repo;
let dir = '';

beforeAll(async () => {
  repo = await makeRepo();
  dir = await mkdtemp(join(tmpdir(), 'kdelta-mirror-test-'));
});

afterAll(async () => {
  await repo.remove();
  await rm(dir, { recursive: true, force: true });
});

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

describe('a mirror', () => {
  it('tells which branches came, moved, were rewritten and went', async () => {
    const spec = { dir: join(dir, 'a.git'), url: repo.dir };
    const one = await repo.commit('one', { a: '1' });
    expect(await fetchMirror(spec)).toEqual([{ branch: 'master', before: null, after: one }]);
    expect(await fetchMirror(spec)).toEqual([]);
    const two = await repo.commit('two', { a: '2' });
    repo.git('branch', 'topic');
    expect(await fetchMirror(spec)).toEqual([
      { branch: 'master', before: one, after: two },
      { branch: 'topic', before: null, after: two },
    ]);
    repo.git('reset', '--quiet', '--hard', one);
    const other = await repo.commit('rewritten', { a: '3' });
    repo.git('branch', '-D', 'topic');
    expect(await fetchMirror(spec)).toEqual([
      { branch: 'master', before: two, after: other },
      { branch: 'topic', before: two, after: null },
    ]);
    expect(await listHeads(spec.dir)).toEqual(new Map([['master', other]]));
  });

  it('borrows objects from a local repository', async () => {
    await repo.commit('borrowed', { big: 'x'.repeat(100_000) });
    const spec = { dir: join(dir, 'b.git'), url: repo.dir, reference: repo.dir };
    await fetchMirror(spec);
    expect(await readFile(join(spec.dir, 'objects/info/alternates'), 'utf8')).toBe(`${repo.dir}/.git/objects\n`);
    expect((await runGit(['count-objects', '-v'], { gitDir: spec.dir })).match(/^(count|in-pack): (\d+)$/gm)).toEqual([
      'count: 0',
      'in-pack: 0',
    ]);
    await expect(fetchMirror({ ...spec, reference: dir })).rejects.toMatchObject({ code: 'KD_GIT_REFERENCE' });
  });

  it('that cannot be fetched says so', async () => {
    const spec = { dir: join(dir, 'c.git'), url: join(dir, 'nowhere') };
    await expect(fetchMirror(spec)).rejects.toMatchObject({ code: 'KD_GIT_FETCH' });
  });

  it('runs no hook of the source or of its own', async () => {
    const spec = { dir: join(dir, 'd.git'), url: repo.dir };
    await fetchMirror(spec);
    const mark = join(dir, 'hook-ran');
    const hooks = join(spec.dir, 'hooks');
    execFileSync('mkdir', ['-p', hooks]);
    for (const name of ['reference-transaction', 'post-checkout', 'post-update']) {
      await writeFile(join(hooks, name), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
    }
    await repo.commit('more', { a: '9' });
    await fetchMirror(spec);
    await checkoutCommit(spec.dir, repo.git('rev-parse', 'HEAD'), { dir: join(dir, 'd'), index: join(dir, 'd.index') });
    expect(await exists(mark)).toBe(false);
  });
});

describe('a tree URL', () => {
  it('is https, ssh, git or a local path', () => {
    for (const url of [
      'https://git.example.org/linux.git',
      'ssh://git@git.example.org/linux.git',
      'git://git.example.org/linux.git',
      'git@git.example.org:linux.git',
    ]) {
      expect(checkUrl(url), url).toBe(false);
    }
    for (const url of ['/srv/linux.git', './linux', '../linux', 'file:///srv/linux.git'])
      expect(checkUrl(url), url).toBe(true);
  });

  it('is refused when it could run or reach something else', () => {
    for (const url of [
      'ext::sh -c touch% /tmp/x',
      'ext::x',
      'fd::17',
      '--upload-pack=touch /tmp/x',
      '-x',
      'http://git.example.org/linux.git',
      'ssh://-oProxyCommand=x/y',
      'https://',
      '',
      'git@x:y\n',
      'transport::address',
    ]) {
      expect(() => checkUrl(url), url).toThrow(/tree URL/);
    }
  });
});

describe('a checkout', () => {
  it('writes only what differs, and tells what', async () => {
    const one = await repo.commit('one', { Makefile: 'all:\n', 'x/a': '1', 'x/b': '1' });
    const checkout = { dir: join(dir, 'e'), index: join(dir, 'e.index') };
    expect(await checkoutCommit(`${repo.dir}/.git`, one, checkout)).toBeNull();
    repo.git('rm', '--quiet', 'x/b');
    const two = await repo.commit('two', { 'x/a': '2' });
    expect(await checkoutCommit(`${repo.dir}/.git`, two, checkout)).toEqual(['x/a', 'x/b']);
    expect(await readdir(join(checkout.dir, 'x'))).toEqual(['a']);
    await checkoutCommit(`${repo.dir}/.git`, one, checkout);
    expect((await readdir(join(checkout.dir, 'x'))).sort()).toEqual(['a', 'b']);
  });

  it('does not write through a link that leads out', async () => {
    const outside = join(dir, 'outside');
    execFileSync('mkdir', ['-p', outside]);
    const checkout = { dir: join(dir, 'f'), index: join(dir, 'f.index') };
    await repo.commit('link', {});
    execFileSync('ln', ['-s', outside, join(repo.dir, 'link')]);
    const linked = await repo.commit('a link', {});
    await checkoutCommit(`${repo.dir}/.git`, linked, checkout);
    execFileSync('rm', [join(repo.dir, 'link')]);
    const folder = await repo.commit('a folder of that name', { 'link/file': 'x' });
    await checkoutCommit(`${repo.dir}/.git`, folder, checkout);
    expect(await readdir(outside)).toEqual([]);
    expect(await readFile(join(checkout.dir, 'link/file'), 'utf8')).toBe('x');
  });
});
