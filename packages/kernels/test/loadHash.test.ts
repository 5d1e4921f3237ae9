import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { hashLoaded, readBuildId, readSections } from '../src/elf.ts';
import { hashRelocatable } from '../src/relocatable.ts';

const dir = mkdtempSync(join(tmpdir(), 'kdelta-elf-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function compile(source: string, args: string[] = ['-c']): Buffer {
  writeFileSync(join(dir, 'x.c'), source);
  execFileSync('gcc', ['-O2', '-fno-asynchronous-unwind-tables', ...args, '-o', join(dir, 'x.o'), join(dir, 'x.c')]);
  return readFileSync(join(dir, 'x.o'));
}

function before(source: string, release: string): string {
  const object = compile(source);
  const sum = createHash('sha256');
  expect(hashRelocatable(object, readSections(object)!, release, sum)).toBe(true);
  return sum.digest('hex');
}

/** As in the kernel: the name of a static object holds the line it stands on. */
const source = (comment: string, release: string, step = 1) => `
#define GLUE_(a, b) a##b
#define GLUE(a, b) GLUE_(a, b)
extern int other(const char *);
${comment}
static int start(void) { return other("${release}") + ${step}; }
static int (*GLUE(initcall_, __LINE__))(void) __attribute__((used, section(".initcall"))) = start;
`;

describe('two objects', () => {
  it('are the same when only comments and the lines below them moved', () => {
    expect(before(source('/* more\n * words\n */', '6.12-kd1'), '6.12-kd1')).toBe(
      before(source('', '6.12-kd1'), '6.12-kd1'),
    );
  });

  it('are the same under another release string of the same length', () => {
    expect(before(source('', '6.12-kd1'), '6.12-kd1')).toBe(before(source('', '6.12-kd2'), '6.12-kd2'));
  });

  it('differ when the code, a string or what is called differs', () => {
    const one = before(source('', '6.12-kd1'), '6.12-kd1');
    expect(before(source('', '6.12-kd1', 2), '6.12-kd1')).not.toBe(one);
    expect(before(source('', '6.12-kdX'), '6.12-kd1')).not.toBe(one);
    expect(before(source('', '6.12-kd1').replaceAll('other', 'another'), '6.12-kd1')).not.toBe(one);
  });
});

describe('a linked file', () => {
  const link = ['-shared', '-nostdlib', '-Wl,--build-id=sha1'];

  it('is the same when only release string and build id differ', () => {
    const [a, b] = ['6.12-kd1', '6.12-kd2'].map((release) =>
      compile(`const char banner[] = "Linux ${release}";`, link),
    );
    expect(readBuildId(a!, readSections(a!)!)).not.toBe(readBuildId(b!, readSections(b!)!));
    expect(hashLoaded(a!, readSections(a!)!, '6.12-kd1')).toBe(hashLoaded(b!, readSections(b!)!, '6.12-kd2'));
  });

  it('has the build id that readelf prints', () => {
    const file = compile('int x;', link);
    const printed = /Build ID: ([0-9a-f]+)/.exec(
      execFileSync('readelf', ['-n', join(dir, 'x.o')], { encoding: 'utf8' }),
    );
    expect(readBuildId(file, readSections(file)!)).toBe(printed![1]);
  });

  it('cut short or of another kind is not read', () => {
    const file = compile('int x = 1;', link);
    expect(readSections(file.subarray(0, file.length - 100))).toBeNull();
    expect(readSections(Buffer.from('#!/bin/sh\n'))).toBeNull();
    expect(readSections(Buffer.alloc(0))).toBeNull();
  });
});
