import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HomeError } from './errors.ts';
import { isAlive, processIdentity } from './processes.ts';

/**
 * Runs `work` while holding the lock file `file`, which names its holder; a lock whose holder is dead is taken over.
 * Throws KD_STATE_LOCKED when a living holder keeps it for longer than `waitMs`.
 */
export async function withLockFile<T>(file: string, work: () => Promise<T>, waitMs = 60_000): Promise<T> {
  mkdirSync(dirname(file), { recursive: true });
  const me = processIdentity() as string;
  const giveUp = Date.now() + waitMs;
  for (;;) {
    // Written aside and linked by rename-free `wx`: a reader sees the whole name or nothing.
    try {
      writeFileSync(file, me, { flag: 'wx' });
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const holder = readHolder(file);
    if (holder !== null && holder !== '' && !isAlive(holder)) {
      // Moved aside before it is removed, so that of two waiters only one takes a dead holder's lock away.
      const aside = `${file}.${me}`;
      try {
        renameSync(file, aside);
        if (readHolder(aside) === holder) rmSync(aside, { force: true });
        else renameSync(aside, file);
      } catch {
        // Another waiter was first.
      }
      continue;
    }
    if (Date.now() > giveUp)
      throw new HomeError('KD_STATE_LOCKED', `${file} is held by process ${holder}; wait for it or end it`);
    await sleep(50);
  }
  try {
    return await work();
  } finally {
    if (readHolder(file) === me) rmSync(file, { force: true });
  }
}

function readHolder(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
