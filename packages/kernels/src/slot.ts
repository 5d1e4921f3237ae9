import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { cacheEntry, cacheLockFile, touch } from './cache.ts';
import { runCommand } from './command.ts';
import { hash } from './deb.ts';
import { KernelError } from './errors.ts';
import { type Lock, takeLock } from './lock.ts';
import { buildUid } from './sandbox.ts';
import type { BuildContext } from './types.ts';

/** Changes when old build folders must not be reused. */
const LAYOUT = 'slot-1';
/** A cold slot compiles everything: on a small machine waiting for the warm one is faster. */
const MOST_SLOTS = Math.min(4, Math.max(1, Math.floor(availableParallelism() / 4)));

/*
 * A slot is a source worktree with its out-of-tree build folder and compiler cache, reused from commit to commit so that only what changed is
 * compiled. Slots belong to one tree, kconfig and compiler: what a tree's build leaves behind is met by builds of that
 * tree only. Only the sandbox writes into `build`, `tmp` and `ccache`; nothing there is trusted or followed.
 */
export interface Slot {
  dir: string;
  src: string;
  index: string;
  build: string;
  tmp: string;
  /** What we hand in, read-only inside. */
  input: string;
  ccache: string;
  uid: number;
  state: SlotState;
  lock: Lock;
}

export interface SlotState {
  /** kconfig hash that `.config` was made from; absent when it must be made again. */
  kconfigHash?: string;
  /** Set while make runs: found set, that make was killed, and may have left half-written files that break the next one. */
  building?: boolean;
}

/** Takes a free slot, or makes one, or waits for the first. */
export async function takeSlot(tree: string, kconfigHash: string, compiler: string, ctx: BuildContext): Promise<Slot> {
  const family = hash([LAYOUT, tree, kconfigHash, compiler].join('\n')).slice(0, 12);
  let lock: Lock | null = null;
  let key = '';
  for (let i = 0; i < MOST_SLOTS && !lock; i++) {
    key = `${family}-${i}`;
    lock = await takeLock(cacheLockFile(ctx.cacheDir, 'slots', key), { tryOnly: true, signal: ctx.signal });
  }
  if (!lock) {
    key = `${family}-0`;
    ctx.progress?.({ phase: 'wait', message: 'the build folder is in use' });
    lock = await takeLock(cacheLockFile(ctx.cacheDir, 'slots', key), { signal: ctx.signal });
  }
  try {
    return await openSlot(key, lock, ctx);
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function openSlot(key: string, lock: Lock, ctx: BuildContext): Promise<Slot> {
  const dir = cacheEntry(ctx.cacheDir, 'slots', key);
  const at = (name: string) => join(dir, name);
  const state = JSON.parse(await readFile(at('state.json'), 'utf8').catch(() => '{}')) as SlotState;
  if (state.building) await rm(at('build'), { recursive: true, force: true });
  const folders = { src: at('src'), build: at('build'), tmp: at('tmp'), input: at('input'), ccache: at('ccache') };
  const slot = { dir, index: at('index'), uid: buildUid(dir), ...folders };
  await mkdir(slot.src, { recursive: true });
  await rm(slot.tmp, { recursive: true, force: true });
  await rm(slot.input, { recursive: true, force: true });
  await mkdir(slot.input, { recursive: true });
  for (const path of [slot.build, slot.tmp, slot.ccache]) {
    await mkdir(path, { recursive: true, mode: 0o755 });
    if (process.getuid?.() === 0) await own(path, slot.uid, ctx);
  }
  await touch(dir);
  return { ...slot, state: state.building ? {} : state, lock };
}

/** The cache may have been moved, and with its path the user changes. */
async function own(path: string, uid: number, ctx: BuildContext): Promise<void> {
  if ((await stat(path)).uid === uid) return;
  const done = await runCommand('chown', ['-R', '-h', '-P', `${uid}:${uid}`, '--', path], { signal: ctx.signal });
  if (done.code !== 0) throw new KernelError('KD_CACHE_DIR', `chown ${path}: ${done.stderr.trim()}`);
}

export async function saveSlotState(slot: Slot, state: SlotState): Promise<void> {
  slot.state = state;
  await writeFile(join(slot.dir, 'state.new'), JSON.stringify(state));
  await rename(join(slot.dir, 'state.new'), join(slot.dir, 'state.json'));
}

/** Throws the build folder away: after a build that was cut off, or did what builds don't. */
export async function clearBuild(slot: Slot): Promise<void> {
  await saveSlotState(slot, {});
  await rm(slot.build, { recursive: true, force: true });
}
