import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KernelArtifact } from '@kdelta/kernels';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { priorOf } from '../src/bisectPrior.ts';

let dir: string;
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.org', ...args], {
    cwd: dir,
    encoding: 'utf8',
  }).trim();

function change(file: string, text = String(Math.random())): string {
  mkdirSync(join(dir, file, '..'), { recursive: true });
  writeFileSync(join(dir, file), text);
  git('add', '--', file);
  git('commit', '-q', '-m', file);
  return git('rev-parse', 'HEAD');
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'kd-prior-'));
  git('init', '-q', '-b', 'main');
});
afterEach(() => rmSync(dir, { recursive: true }));

test('commits that touch no file of the build weigh little, merges a little more, the others are not named', async () => {
  const good = change('mm/memory.c');
  const compiled = change('mm/memory.c');
  const docs = change('Documentation/mm/a file.rst');
  const makefile = change('drivers/usb/Makefile');
  git('checkout', '-q', '-b', 'side', good);
  const driver = change('drivers/usb/host.c');
  git('checkout', '-q', 'main');
  git('merge', '-q', '--no-ff', '-m', 'merge', 'side');
  const bad = git('rev-parse', 'HEAD');
  const list = join(dir, 'sources');
  writeFileSync(list, 'mm/memory.c\ninclude/linux/mm.h\n');

  const shas = git('rev-list', '--parents', `${good}..${bad}`)
    .split('\n')
    .map((l) => l.split(' '));
  const range = shas.map(([sha, ...parents]) => ({
    sha: sha!,
    parents,
    subject: '',
    author_name: '',
    committed_at: new Date(),
  }));
  const prior = await priorOf(join(dir, '.git'), range, { good, bad }, { sources: list } as KernelArtifact);
  expect(prior.weights).toEqual({ [docs]: 0.02, [driver]: 0.02, [bad]: 0.1 });
  expect(prior.weights[compiled] ?? prior.weights[makefile]).toBeUndefined();
});

test('without the list of sources every commit weighs the same', async () => {
  expect((await priorOf(dir, [], { good: 'a', bad: 'b' }, null)).weights).toEqual({});
  const gone = { sources: join(dir, 'pruned') } as KernelArtifact;
  expect((await priorOf(dir, [], { good: 'a', bad: 'b' }, gone)).weights).toEqual({});
});

test('a commit that changes comments only is told from one that changes code, quotes and all', async () => {
  const good = change('mm/a.c', 'int a; /* one */\nchar *s = "/* no comment */";\n');
  const comment = change('mm/a.c', 'int a; /* two,\n\t * longer */ // and this\nchar *s = "/* no comment */";\n');
  const code = change('mm/a.c', 'int b; /* two */\nchar *s = "/* no comment */";\n');
  const quoted = change('mm/a.c', 'int b; /* two */\nchar *s = "/* a comment */";\n');
  const range = [quoted, code, comment].map((sha, i, all) => ({
    sha,
    parents: [all[i + 1] ?? good],
    subject: '',
    author_name: '',
    committed_at: new Date(),
  }));
  const { commentOnly } = await priorOf(join(dir, '.git'), range, { good, bad: quoted }, null);
  expect([...commentOnly]).toEqual([comment]);
});
