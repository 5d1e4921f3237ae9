import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { KernelError } from './errors.ts';

/** A held lock; `release` may be called twice. */
export interface Lock {
  release(): void;
}

export interface LockOptions {
  /** `shared` holders go together; default exclusive. */
  shared?: boolean;
  /** Don't wait: null when somebody else holds it. */
  tryOnly?: boolean;
  signal?: AbortSignal;
}

/**
 * Takes the lock on `file` (made if need be) through flock(1). The kernel holds it for a child that lives as long as
 * our end of a pipe, so a killed kdelta leaves no lock behind. Returns null only with `tryOnly`.
 * Throws KD_TOOL_MISSING without flock, KD_ABORTED on the signal.
 */
export async function takeLock(file: string, options: LockOptions & { tryOnly: true }): Promise<Lock | null>;
export async function takeLock(file: string, options?: LockOptions): Promise<Lock>;
export async function takeLock(file: string, options: LockOptions = {}): Promise<Lock | null> {
  await mkdir(dirname(file), { recursive: true });
  const args = [
    options.shared ? '--shared' : '--exclusive',
    ...(options.tryOnly ? ['--nonblock'] : []),
    '--conflict-exit-code',
    '75',
    file,
    'sh',
    '-c',
    'echo held; exec cat >/dev/null',
  ];
  const child = spawn('flock', args, { stdio: ['pipe', 'pipe', 'ignore'] });
  child.stdin.on('error', () => {});
  const release = () => {
    child.stdin.end();
    child.unref();
  };
  return await new Promise((resolve, reject) => {
    const abort = () => {
      child.kill('SIGKILL');
      reject(new KernelError('KD_ABORTED', `stopped while waiting for ${file}`));
    };
    if (options.signal?.aborted) return abort();
    options.signal?.addEventListener('abort', abort, { once: true });
    const settle = () => options.signal?.removeEventListener('abort', abort);
    child.on('error', (cause) => {
      settle();
      reject(new KernelError('KD_TOOL_MISSING', 'flock is not installed (Debian package util-linux)', { cause }));
    });
    child.on('exit', (code) => {
      settle();
      if (code === 75) resolve(null);
      else reject(new KernelError('KD_CACHE_DIR', `can't lock ${file}: is its folder writable?`));
    });
    child.stdout.once('data', () => {
      settle();
      child.stdout.destroy();
      // The lock must not keep a program alive that has nothing else to do.
      child.unref();
      (child.stdin as unknown as { unref?: () => void }).unref?.();
      resolve({ release });
    });
  });
}
