import { expect, it } from 'vitest';
import { outputsOf } from '../src/bootHost.ts';

it('an output is the file of its program’s name, or the compressed one where there is one', () => {
  const files = ['dmesg', 'top', 'top.gz', 'top.err', 'pft', 'notes.gz'].map((name) => ({ name, path: `/x/${name}` }));
  expect(outputsOf(files, new Set(['dmesg', 'top', 'pft']))).toEqual([
    { program: 'dmesg', path: '/x/dmesg' },
    { program: 'top', path: '/x/top.gz' },
    { program: 'pft', path: '/x/pft' },
  ]);
});
