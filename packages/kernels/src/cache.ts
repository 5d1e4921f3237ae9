import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { access, lstat, mkdir, readdir, rename, rm, statfs, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { KernelError } from './errors.ts';
import { type Lock, takeLock } from './lock.ts';

/*
 * The cache holds what is expensive and can be made again: `<root>/<kind>/<key>`, a folder or a file each. Kinds:
 * kernels, debs, slots (build folders), failures (their logs), trees (the demo's), rootfs and guest files. An entry appears by rename when it is
 * whole; `<root>/locks/<kind>-<key>.lock` is held exclusively while it is made or removed, shared while it is used.
 * An entry's mtime is when it was last used.
 */

/** Where an entry is or will be. */
export function cacheEntry(root: string, kind: string, key: string): string {
  for (const part of [kind, key]) {
    if (!/^[A-Za-z0-9_+~][A-Za-z0-9._+~:-]*$/.test(part))
      throw new KernelError('KD_CACHE_DIR', `not a cache key: ${part}`);
  }
  return join(root, kind, key);
}

export function cacheLockFile(root: string, kind: string, key: string): string {
  cacheEntry(root, kind, key);
  return join(root, 'locks', `${kind}-${key}.lock`);
}

/** Keeps an entry from being pruned until released. Many may hold it at once. */
export async function holdEntry(root: string, kind: string, key: string, signal?: AbortSignal): Promise<Lock> {
  return await takeLock(cacheLockFile(root, kind, key), { shared: true, signal });
}

/**
 * The entry's path, made by `make` if it isn't there. `make` gets a fresh path in the same file system and makes
 * there a folder or a file, which is then renamed into place: several kdeltas make one entry once, and a killed one leaves no
 * half entry. `made` tells whether `make` ran.
 */
export async function fetchEntry(
  root: string,
  kind: string,
  key: string,
  make: (path: string) => Promise<void>,
  signal?: AbortSignal,
): Promise<{ path: string; made: boolean }> {
  const path = cacheEntry(root, kind, key);
  if (await touch(path)) return { path, made: false };
  const lock = await takeLock(cacheLockFile(root, kind, key), { signal });
  const temporary = join(root, 'tmp', `${kind}-${key}-${randomBytes(6).toString('hex')}`);
  try {
    if (await touch(path)) return { path, made: false };
    await mkdir(join(root, 'tmp'), { recursive: true });
    await mkdir(join(root, kind), { recursive: true });
    await make(temporary);
    await rename(temporary, path);
    return { path, made: true };
  } finally {
    await rm(temporary, { recursive: true, force: true });
    lock.release();
  }
}

/** Marks an entry as used now; false when there is none. */
export async function touch(path: string): Promise<boolean> {
  try {
    await access(path);
    const now = new Date();
    await utimes(path, now, now).catch(() => {});
    return true;
  } catch {
    return false;
  }
}

export interface CacheEntryInfo {
  kind: string;
  key: string;
  path: string;
  /** Bytes on disk. */
  bytes: number;
  lastUsed: Date;
}

/** All entries, longest unused first. */
export async function listCache(root: string): Promise<CacheEntryInfo[]> {
  const entries: CacheEntryInfo[] = [];
  for (const kind of await names(root)) {
    if (kind === 'locks' || kind === 'tmp') continue;
    for (const key of await names(join(root, kind))) {
      const path = join(root, kind, key);
      const stat = await lstat(path).catch(() => null);
      if (!stat) continue;
      entries.push({ kind, key, path, bytes: await diskUse(path, stat), lastUsed: stat.mtime });
    }
  }
  return entries.sort((a, b) => a.lastUsed.getTime() - b.lastUsed.getTime());
}

export interface PruneLimits {
  /** Entries unused for longer go. */
  maxAgeMs?: number;
  /** Then the longest unused go until all together take no more. */
  maxBytes?: number;
  now: Date;
  dryRun?: boolean;
}

export interface PruneResult {
  removed: CacheEntryInfo[];
  /** Would have gone but is in use. */
  inUse: CacheEntryInfo[];
  keptBytes: number;
}

/** Removes entries by age, then by size, never one that is locked, and what killed programs left in `tmp`. */
export async function pruneCache(root: string, limits: PruneLimits): Promise<PruneResult> {
  const entries = await listCache(root);
  const result: PruneResult = { removed: [], inUse: [], keptBytes: entries.reduce((sum, e) => sum + e.bytes, 0) };
  for (const entry of entries) {
    const tooOld = limits.maxAgeMs !== undefined && limits.now.getTime() - entry.lastUsed.getTime() > limits.maxAgeMs;
    const tooMuch = limits.maxBytes !== undefined && result.keptBytes > limits.maxBytes;
    if (!tooOld && !tooMuch) continue;
    const lock = await takeLock(cacheLockFile(root, entry.kind, entry.key), { tryOnly: true });
    if (!lock) {
      result.inUse.push(entry);
      continue;
    }
    try {
      if (!limits.dryRun) await removeEntry(root, entry);
      result.removed.push(entry);
      result.keptBytes -= entry.bytes;
    } finally {
      lock.release();
    }
  }
  if (!limits.dryRun) await removeLeftovers(root, limits.now);
  return result;
}

/** Bytes free in the file system of the cache. */
export async function freeBytes(path: string): Promise<number> {
  const info = await statfs(path);
  return info.bavail * info.bsize;
}

async function removeEntry(root: string, entry: CacheEntryInfo): Promise<void> {
  // Renamed first, so that nobody meets half an entry.
  const grave = join(root, 'tmp', `gone-${randomBytes(6).toString('hex')}`);
  await mkdir(join(root, 'tmp'), { recursive: true });
  await rename(entry.path, grave);
  await rm(grave, { recursive: true, force: true });
}

async function removeLeftovers(root: string, now: Date): Promise<void> {
  const dayMs = 86_400_000;
  for (const name of await names(join(root, 'tmp'))) {
    const path = join(root, 'tmp', name);
    const stat = await lstat(path).catch(() => null);
    if (stat && now.getTime() - stat.mtimeMs > dayMs) await rm(path, { recursive: true, force: true });
  }
}

async function diskUse(path: string, stat: Stats): Promise<number> {
  if (!stat.isDirectory()) return stat.blocks * 512;
  let bytes = stat.blocks * 512;
  for (const name of await names(path)) {
    const child = join(path, name);
    const childStat = await lstat(child).catch(() => null);
    if (childStat) bytes += await diskUse(child, childStat);
  }
  return bytes;
}

async function names(path: string): Promise<string[]> {
  try {
    return (await readdir(path)).sort();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw new KernelError('KD_CACHE_DIR', `can't read ${path}: ${code}`, { cause: error });
  }
}
