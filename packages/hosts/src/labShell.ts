import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HostFile } from '@kdelta/jobs';
import { BootError, ShellError } from './errors.ts';
import { readEvidence } from './evidence.ts';
import { openShell, type ShellTarget, showHostKey } from './shell.ts';
import type { BootEvidence, Shell } from './types.ts';

/** How a machine that isn't ours to make is reached. Throws KD_HOST_KEY without a pinned key, KD_HOST_SETUP without our own. */
export async function labTarget(host: HostFile): Promise<ShellTarget & { host: string }> {
  const { access } = host;
  const name = access?.host;
  const port = typeof access?.port === 'number' ? access.port : 22;
  if (!access || !name) throw new BootError('KD_HOST_SETUP', 'infra', `${host.file}: access.ssh.host is missing`);
  if (!access.key)
    throw new BootError('KD_HOST_SETUP', 'infra', `${host.file}: access.ssh.key is missing (a private key's file)`);
  const file = access.key.replace(/^~(?=\/)/, homedir());
  const privateKey = await readFile(file, 'utf8').catch(() => {
    throw new BootError('KD_HOST_SETUP', 'infra', `${host.file}: access.ssh.key: ${file} can't be read`);
  });
  if (!access.hostKey) {
    const shown = await showHostKey(name, port).catch(() => null);
    const hint = shown ? `; the machine shows \`${shown}\`: put that there if it is its key` : '';
    throw new BootError('KD_HOST_KEY', 'infra', `${host.file}: access.ssh.host_key is missing${hint}`);
  }
  return { host: name, port, user: access.user, privateKey, hostKey: access.hostKey, connectTimeoutMs: 15_000 };
}

/** A login on a machine that is up. Throws KD_HOST_UNREACHABLE, KD_HOST_KEY. */
export async function logIn(target: ShellTarget, tries = 3): Promise<Shell> {
  for (;;) {
    try {
      return await openShell(target);
    } catch (error) {
      if (!(error instanceof ShellError)) throw error;
      if (error.code === 'KD_SSH_KEY') throw new BootError('KD_HOST_KEY', 'infra', error.message);
      if (--tries <= 0) throw new BootError('KD_HOST_UNREACHABLE', 'infra', error.message);
      await sleep(1_000);
    }
  }
}

export interface Arrival {
  shell: Shell;
  evidence: BootEvidence;
}

/**
 * Waits until the machine answers with another boot_id than `previous`. Null when it doesn't in time; `neverDown` tells
 * whether it still answered as the old boot at the end.
 */
export async function waitForNewBoot(
  target: ShellTarget,
  previous: string,
  limitMs: number,
  signal: AbortSignal,
): Promise<Arrival | { shell: null; neverDown: boolean }> {
  const until = Date.now() + limitMs;
  let neverDown = true;
  while (Date.now() < until) {
    signal.throwIfAborted();
    try {
      const shell = await openShell({
        ...target,
        connectTimeoutMs: Math.min(20_000, Math.max(3_000, until - Date.now())),
      });
      try {
        const evidence = await readEvidence(shell, 20_000);
        if (evidence.bootId !== previous) return { shell, evidence };
        neverDown = true;
      } catch (error) {
        shell.close();
        throw error;
      }
      shell.close();
    } catch (error) {
      if (!(error instanceof ShellError)) throw error;
      if (error.code === 'KD_SSH_KEY') throw new BootError('KD_HOST_KEY', 'infra', error.message);
      neverDown = false;
    }
    await sleep(1_000);
  }
  return { shell: null, neverDown };
}
