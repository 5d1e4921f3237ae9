import { expect, it } from 'vitest';
import { parse, sourceFile } from './parse.ts';

const whole = { unterminated: false } as never;

it('adds up the symbols of one source file, in whatever way its path is written', () => {
  // 7.25 + 3.25 of two functions of mm/memcontrol.c.
  const samples = parse(
    [
      ' 7.25%|[k] mem_cgroup_charge|/build/linux-6.12/mm/memcontrol.c',
      ' 3.25%|[k] try_charge|mm/memcontrol.c:9',
      '# end',
    ],
    whole,
  );
  expect(samples['file.mm/memcontrol.c%']).toEqual([10.5]);
});

it.each([
  ['/home/a/linux/mm/slub.c:10', 'mm/slub.c'],
  ['../mm/slub.c', 'mm/slub.c'],
  ['include/linux/mm.h:7 (discriminator 2)', 'include/linux/mm.h'],
  ['??:0', null],
  ['[kernel.kallsyms]', null],
])('reads %s as the source file %s', (text, file) => {
  expect(sourceFile(text)).toBe(file);
});
