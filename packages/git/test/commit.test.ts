import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  changedFiles,
  checkRev,
  diffstat,
  findCommit,
  makeRevert,
  parseCommit,
  parseTrailers,
  readCommit,
  runGit,
} from '../src/index.ts';
import { makeRepo, type Repo } from './repo.ts';

let repo: Repo;
let gitDir = '';

beforeAll(async () => {
  repo = await makeRepo();
  gitDir = `${repo.dir}/.git`;
});

afterAll(() => repo.remove());

const raw = (header: string, message: Buffer | string) =>
  Buffer.concat([Buffer.from(`${header}\n\n`, 'latin1'), Buffer.from(message)]);
const header =
  'tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor A <a@example.org> 1700000000 +0530\ncommitter C <c@example.org> 1700000060 -0800';

describe('the facts of a commit', () => {
  it('are read from a real one', async () => {
    const first = await repo.commit('mm: first', { 'mm/memory.c': 'int a;\n' });
    const sha = await repo.commit(
      'mm: clear pages twice\n\nBecause.\n\nFixes: 123456789abc ("mm: first")\nSigned-off-by: Jürgen Müller <jm@example.org>',
      { 'mm/memory.c': 'int a;\nint b;\n' },
      'Jürgen Müller <jm@example.org>',
    );
    const facts = await readCommit(gitDir, sha);
    expect(facts).toMatchObject({ sha, parents: [first], subject: 'mm: clear pages twice' });
    expect(facts.author).toMatchObject({ name: 'Jürgen Müller', email: 'jm@example.org' });
    expect(facts.committer).toMatchObject({ name: 'Committer', email: 'committer@example.org' });
    expect(facts.trailers.map((trailer) => trailer.key)).toEqual(['Fixes', 'Signed-off-by']);
    expect(facts.body.startsWith('Because.')).toBe(true);
    expect(await changedFiles(gitDir, sha)).toEqual([{ status: 'M', path: 'mm/memory.c' }]);
    expect(await changedFiles(gitDir, first)).toEqual([{ status: 'A', path: 'mm/memory.c' }]);
    expect(await diffstat(gitDir, sha)).toContain(' mm/memory.c | 1 +');
  });

  it('keep times with their zone', () => {
    const facts = parseCommit('x', raw(header, 'subject\n'));
    // 1700000000 is 2023-11-14T22:13:20Z (date -u -d @1700000000).
    expect(facts.author.date.toISOString()).toBe('2023-11-14T22:13:20.000Z');
    expect(facts.author.offsetMinutes).toBe(330);
    expect(facts.committer.offsetMinutes).toBe(-480);
  });

  it('are decoded as the encoding header says, else as Latin-1 where UTF-8 is broken', () => {
    const latin = raw(
      `${header.replace('author A', 'author M\xfcller')}\nencoding ISO-8859-1`,
      Buffer.from('gr\xfc\xdfe\n', 'latin1'),
    );
    expect(parseCommit('x', latin)).toMatchObject({ subject: 'grüße', author: { name: 'Müller' } });
    const broken = raw(header, Buffer.from('gr\xfc\xdfe\n', 'latin1'));
    expect(parseCommit('x', broken).subject).toBe('grüße');
  });

  it('survive a signature header, an empty message and strange names', () => {
    const signed = raw(
      `${header}\ngpgsig -----BEGIN PGP SIGNATURE-----\n author Evil <evil@example.org> 1 +0000\n -----END`,
      '',
    );
    expect(parseCommit('x', signed)).toMatchObject({ subject: '', body: '', author: { name: 'A' } });
    const odd = raw(header.replace('author A <a@example.org>', 'author <> "x" <a@b>>'), 's');
    expect(parseCommit('x', odd).author.email).toContain('a@b');
  });

  it('have trailers only where the last paragraph is made of them', () => {
    expect(parseTrailers('text\n\nA: b\n [x@y: changed]\nLink: https://example.org/\n  more')).toEqual([
      { key: 'A', value: 'b [x@y: changed]' },
      { key: 'Link', value: 'https://example.org/ more' },
    ]);
    expect(parseTrailers('Note: this is\nplain text.')).toEqual([]);
    expect(parseTrailers('A: b\n\nlast words')).toEqual([]);
  });
});

describe('a revision', () => {
  it('is found as branch, tag or abbreviated sha', async () => {
    const sha = await repo.commit('tagged', { f: '1' });
    repo.git('tag', 'v1.0');
    repo.git('branch', 'feature/x');
    for (const rev of ['master', 'v1.0', 'feature/x', sha, sha.slice(0, 10)])
      expect(await findCommit(gitDir, rev)).toBe(sha);
  });

  it('is refused with the near ones when it is unknown', async () => {
    await expect(findCommit(gitDir, 'v1')).rejects.toThrow('no commit, branch or tag v1; near: v1.0');
  });

  it('is refused when git could take it for something else', () => {
    for (const rev of [
      '',
      '-x',
      '--upload-pack=touch /tmp/x',
      'a..b',
      'a b',
      'a\nb',
      'HEAD@{1}',
      'a:b',
      'refs/x.lock',
      '*',
    ]) {
      expect(() => checkRev(rev), rev).toThrow(/can't be/);
    }
  });
});

describe('a revert', () => {
  it('is clean while later commits leave its lines alone', async () => {
    const lines = Array.from({ length: 30 }, (_, i) => `line ${i}`);
    await repo.commit('base', { 'r.c': lines.join('\n') });
    lines[5] = 'five';
    const culprit = await repo.commit('change five', { 'r.c': lines.join('\n') });
    lines[25] = 'twenty-five';
    const far = await repo.commit('change twenty-five', { 'r.c': lines.join('\n') });
    expect((await runGit(['show', `${await makeRevert(gitDir, culprit, far)}:r.c`], { gitDir })).split('\n')[25]).toBe(
      'twenty-five',
    );
    lines[5] = 'FIVE';
    const near = await repo.commit('change five again', { 'r.c': lines.join('\n') });
    expect(await makeRevert(gitDir, culprit, near)).toBeNull();
  });

  it('is a commit on top, the same one each time, and none where it conflicts or changes nothing', async () => {
    await repo.commit('base', { 'v.c': 'a\n' });
    const culprit = await repo.commit('v: slower', { 'v.c': 'b\n' });
    const bad = await repo.commit('w: other', { 'w.c': 'c\n' });
    const made = await makeRevert(gitDir, culprit, bad);
    expect(made).toMatch(/^[0-9a-f]{40}$/);
    expect(await makeRevert(gitDir, culprit, bad)).toBe(made);
    expect((await runGit(['show', `${made}:v.c`], { gitDir })).trim()).toBe('a');
    expect((await runGit(['show', `${made}:w.c`], { gitDir })).trim()).toBe('c');
    expect((await runGit(['rev-parse', `${made}^`], { gitDir })).trim()).toBe(bad);
    expect((await runGit(['show', '-s', '--format=%s', made!], { gitDir })).trim()).toBe('Revert "v: slower"');
    const near = await repo.commit('v: again', { 'v.c': 'd\n' });
    expect(await makeRevert(gitDir, culprit, near)).toBeNull();
  });
});
