import { describe, expect, it } from 'vitest';
import { firstError, plainText } from '../src/index.ts';

describe('the first error of a build', () => {
  it("is the compiler's, not make's report of it", () => {
    const log = [
      '  CC      fs/proc/stat.o',
      '/src/fs/proc/uptime.c: In function ‘uptime_proc_show’:',
      '/src/fs/proc/uptime.c:20:32: error: ‘cpu’ undeclared (first use in this function)',
      '   20 |         for_each_possible_cpu(cpu) {',
      'make[4]: *** [/src/scripts/Makefile.build:229: fs/proc/uptime.o] Error 1',
      'make[3]: *** [/src/scripts/Makefile.build:478: fs/proc] Error 2',
    ].join('\n');
    const { message, excerpt } = firstError(log);
    expect(message).toBe('fs/proc/uptime.c:20:32: error: ‘cpu’ undeclared (first use in this function)');
    expect(excerpt.split('\n')[0]).toBe('fs/proc/uptime.c: In function ‘uptime_proc_show’:');
  });

  it("is the linker's when everything compiled", () => {
    const log =
      "  LD      vmlinux\nld: mm/memory.o: in function `x':\nmemory.c:(.text+0x1): undefined reference to `y'\nmake: *** [Makefile:1] Error 1";
    expect(firstError(log).message).toContain('mm/memory.o: in function');
  });

  it("is make's own when a rule is missing", () => {
    expect(firstError("make[1]: *** No rule to make target 'bzImage'.  Stop.\n").message).toContain(
      'No rule to make target',
    );
  });

  it('is the last thing printed when nothing looks like an error', () => {
    expect(firstError('hello\nworld\n').message).toBe('world');
    expect(firstError('').message).toBe('make printed nothing');
  });

  it('holds no control sequences and no endless lines', () => {
    const { message } = firstError(`\x1b[31mx.c:1:1: error: \x1b]0;title\x07${'a'.repeat(100_000)}\x1b[0m`);
    expect(message).toMatch(/^x\.c:1:1: error: a+$/);
    expect(message.length).toBeLessThanOrEqual(400);
    expect(plainText('a\x00b\x07c\x1b[1;31md')).toBe('abcd');
  });
});
