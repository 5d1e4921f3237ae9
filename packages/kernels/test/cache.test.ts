import { spawn } from 'node:child_process';
import { access, mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cacheEntry, cacheLockFile, fetchEntry, holdEntry, listCache, pruneCache, takeLock } from '../src/index.ts';

let root = '';

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'kdelta-cache-test-'));
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

async function put(key: string, bytes: number, daysOld: number): Promise<string> {
  const { path } = await fetchEntry(root, 'kernels', key, async (dir) => {
    await mkdir(dir);
    await writeFile(join(dir, 'file'), Buffer.alloc(bytes, 1));
  });
  const then = new Date(Date.now() - daysOld * 86_400_000);
  await utimes(path, then, then);
  return path;
}

describe('the cache', () => {
  it('refuses keys that would leave it', () => {
    for (const key of ['..', '../x', 'a/b', '', '-x', '.hidden'])
      expect(() => cacheEntry(root, 'kernels', key)).toThrow(/cache key/);
  });

  it('makes an entry once when several ask for it at the same time', async () => {
    let made = 0;
    const make = async (path: string) => {
      made += 1;
      await mkdir(path);
      await new Promise((resolve) => setTimeout(resolve, 50));
    };
    const results = await Promise.all(Array.from({ length: 4 }, () => fetchEntry(root, 'kernels', 'a', make)));
    expect(made).toBe(1);
    expect(results.filter((result) => result.made)).toHaveLength(1);
  });

  it('leaves nothing behind when making an entry fails', async () => {
    const failing = fetchEntry(root, 'kernels', 'a', async (path) => {
      await mkdir(path);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await readdir(join(root, 'tmp'))).toEqual([]);
    expect(await exists(cacheEntry(root, 'kernels', 'a'))).toBe(false);
  });

  it('prunes by age', async () => {
    const old = await put('old', 10, 40);
    const young = await put('young', 10, 1);
    const result = await pruneCache(root, { maxAgeMs: 30 * 86_400_000, now: new Date() });
    expect(result.removed.map((entry) => entry.key)).toEqual(['old']);
    expect([await exists(old), await exists(young)]).toEqual([false, true]);
  });

  it('prunes by size, the longest unused first', async () => {
    await put('b', 100_000, 2);
    await put('a', 100_000, 3);
    await put('c', 100_000, 1);
    const total = (await listCache(root)).reduce((sum, entry) => sum + entry.bytes, 0);
    const result = await pruneCache(root, { maxBytes: total - 1, now: new Date() });
    expect(result.removed.map((entry) => entry.key)).toEqual(['a']);
  });

  it('never prunes what is in use', async () => {
    const path = await put('used', 10, 40);
    const hold = await holdEntry(root, 'kernels', 'used');
    const result = await pruneCache(root, { maxBytes: 0, now: new Date() });
    expect(result.removed).toEqual([]);
    expect(result.inUse.map((entry) => entry.key)).toEqual(['used']);
    expect(await exists(path)).toBe(true);
    hold.release();
  });

  it('only says what it would prune in a dry run', async () => {
    const path = await put('old', 10, 40);
    const result = await pruneCache(root, { maxBytes: 0, now: new Date(), dryRun: true });
    expect(result.removed).toHaveLength(1);
    expect(await exists(path)).toBe(true);
  });
});

describe('a lock', () => {
  it('is held once, by others not at all, and again after its release', async () => {
    const file = cacheLockFile(root, 'slots', 'a');
    const lock = await takeLock(file);
    expect(await takeLock(file, { tryOnly: true })).toBeNull();
    lock.release();
    const next = await takeLock(file);
    next.release();
  });

  it('is free again when the program that held it was killed', async () => {
    const file = cacheLockFile(root, 'slots', 'a');
    const module = new URL('../src/lock.ts', import.meta.url).pathname;
    const script = `import { takeLock } from ${JSON.stringify(module)}; await takeLock(${JSON.stringify(file)}); console.log('held'); setInterval(() => {}, 1000);`;
    const tsx = new URL('../../../node_modules/.bin/tsx', import.meta.url).pathname;
    const holder = spawn(tsx, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
    await new Promise((resolve) => holder.stdout.once('data', resolve));
    expect(await takeLock(file, { tryOnly: true })).toBeNull();
    process.kill(-holder.pid!, 'SIGKILL');
    const lock = await takeLock(file);
    lock.release();
  });
});
