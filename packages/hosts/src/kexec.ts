import { execFile } from 'node:child_process';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { HostFile } from '@kdelta/jobs';
import { BootError, ShellError } from './errors.ts';
import { hasToken, readEvidence, wrongBoot } from './evidence.ts';
import { readyPackages } from './hostPackages.ts';
import { type Arrival, labTarget, logIn, waitForNewBoot } from './labShell.ts';
import { machineVersions } from './machineVersions.ts';
import type { HostContext } from './qemu.ts';
import type { ShellTarget } from './shell.ts';
import { stageKernel } from './stage.ts';
import type { BootedHost, BootOrder, HostDriver, TimelineEntry } from './types.ts';

/** A machine that hasn't gone down after this long took no kexec. */
const DOWN_MS = 90_000;
const UP_MS = 300_000;
const NEVER = new AbortController().signal;

/** What a second process needs to go on; lies in the boot's folder. */
interface KexecState {
  token: string;
  /** boot_id of the default kernel that the kexec ended. */
  previous: string;
  timeline: TimelineEntry[];
}

/**
 * A lab machine, reached by SSH only and always found in its default kernel: stage (copied, synced, hashed there) → kexec
 * with `panic=10` → a new boot_id. With our token it is the ordered kernel; without, that one fell over and the firmware
 * started the default kernel again: class `boot`. At the end it is rebooted into the default kernel. Each step that
 * ends a boot first reads on the machine that it is the boot we mean.
 */
export function kexecDriver(host: HostFile, ctx: HostContext): HostDriver {
  return {
    host,
    async boot(order, signal) {
      const timeline: TimelineEntry[] = [{ at: Date.now(), what: 'boot start' }];
      const target = await labTarget(host);
      await mkdir(order.dir, { recursive: true });
      await returnToDefault(host, target, null, signal);
      const shell = await logIn(target);
      const before = await readEvidence(shell);
      const prepare = async () => {
        await readyPackages(shell, host, order.requiredPackages ?? []);
        return await stageKernel(shell, order.kernel, ctx.cacheDir, signal);
      };
      const staged = await prepare().catch((error) => {
        shell.close();
        throw error instanceof ShellError ? new BootError('KD_HOST_UNREACHABLE', 'infra', error.message) : error;
      });
      timeline.push({ at: Date.now(), what: 'staged' });
      const append = kexecCmdline(before.cmdline, order.token, order.cmdline);
      const initrd = staged.initrd ? `--initrd=${staged.initrd}` : '';
      const load = (how: string) => `kexec ${how} -l ${staged.image} ${initrd} --append=${quoted(append)}`;
      const loaded = await shell.exec(`PATH=$PATH:/usr/sbin:/sbin; ${load('-s')} 2>/dev/null || ${load('-c')}`, {
        timeoutMs: 120_000,
      });
      if (loaded.status !== 0) {
        shell.close();
        throw new BootError(
          'KD_HOST_SETUP',
          'infra',
          `the host takes no kexec: ${loaded.stderr.trim().slice(-300) || 'is kexec-tools installed?'}`,
        );
      }
      await writeState(order.dir, { token: order.token, previous: before.bootId, timeline });
      signal.throwIfAborted();
      timeline.push({ at: Date.now(), what: 'kexec' });
      const go = 'if [ -d /run/systemd/system ]; then systemctl kexec; else sync; kexec -e; fi';
      await endBoot(shell, before.bootId, go);
      shell.close();
      return await arrive(host, target, order, before.bootId, timeline, signal);
    },
    async reattach(order, signal) {
      const state = await readState(order.dir);
      if (state?.token !== order.token) return null;
      const target = await labTarget(host);
      return await arrive(host, target, order, state.previous, state.timeline, signal, true);
    },
    async clear() {
      await returnToDefault(host, await labTarget(host), null, NEVER);
    },
    async versions() {
      const shell = await logIn(await labTarget(host));
      try {
        return await machineVersions(shell);
      } finally {
        shell.close();
      }
    },
  };
}

/** The default kernel's own parameters, without those of its loader and of an earlier boot of ours. */
export function kexecCmdline(current: string, token: string, extra: string): string {
  const kept = current
    .split(/\s+/)
    .filter((word) => word !== '' && !/^(BOOT_IMAGE|initrd|panic|kdelta\.boot)=/.test(word));
  return [...kept, 'panic=10', `kdelta.boot=${token}`, ...(extra ? [extra] : [])].join(' ');
}

/** Waits for what comes after the kexec, and proves it. */
async function arrive(
  host: HostFile,
  target: ShellTarget,
  order: BootOrder,
  previous: string,
  timeline: TimelineEntry[],
  signal: AbortSignal,
  resumed = false,
): Promise<BootedHost> {
  const started = Date.now();
  let arrival = await waitForNewBoot(target, previous, resumed ? UP_MS : DOWN_MS + UP_MS, signal);
  let powered = false;
  if (!arrival.shell && !arrival.neverDown && host.power) {
    await powerCycle(host);
    powered = true;
    arrival = await waitForNewBoot(target, previous, UP_MS, signal);
  }
  if (!arrival.shell) {
    const seconds = Math.round((Date.now() - started) / 1000);
    throw arrival.neverDown
      ? new BootError('KD_HOST_SETUP', 'infra', `the host did not go down for kexec within ${seconds} s`)
      : new BootError(
          'KD_HOST_UNREACHABLE',
          'infra',
          `the host did not answer within ${seconds} s of its kexec${host.power ? ' and power cycle' : '; without power control in its file nothing more can be done'}`,
        );
  }
  const { shell, evidence } = arrival as Arrival;
  const wrong = wrongBoot(order, evidence, previous);
  if (wrong) {
    shell.close();
    if (powered)
      throw new BootError('KD_BOOT_HANG', 'boot', `the kernel hung; after a power cycle ${evidence.release} is back`);
    throw new BootError('KD_BOOT_WRONG_KERNEL', 'boot', wrong);
  }
  shell.close();
  let lost: () => void = () => {};
  const ours = await logIn({ ...target, onLost: () => lost() });
  timeline.push({ at: Date.now(), what: 'first login' });
  await writeState(order.dir, { token: order.token, previous, timeline });
  let released = false;
  const died = new Promise<Awaited<BootedHost['died']>>((resolve) => {
    lost = () => {
      if (!released) void afterLoss(target, evidence.bootId).then((death) => death && !released && resolve(death));
    };
  });
  return {
    evidence,
    shell: ours,
    timeline,
    died,
    console: async () => '',
    async release() {
      released = true;
      ours.close();
      await returnToDefault(host, target, order.token, NEVER);
      timeline.push({ at: Date.now(), what: 'released' });
    },
  };
}

/** A connection broke: the network's fault (null), or the kernel's death, which shows as another boot_id. */
async function afterLoss(target: ShellTarget, bootId: string): Promise<Awaited<BootedHost['died']> | null> {
  const until = Date.now() + UP_MS;
  while (Date.now() < until) {
    await sleep(1_000);
    try {
      const shell = await logIn(target, 1);
      const evidence = await readEvidence(shell, 20_000).finally(() => shell.close());
      if (evidence.bootId === bootId) return null;
      return { failureClass: 'boot', message: `the kernel fell over while the job ran; ${evidence.release} is back` };
    } catch {
      // Not up yet.
    }
  }
  return { failureClass: 'infra', message: 'the host stopped answering while the job ran' };
}

/**
 * Reboots into the default kernel if a kernel of ours runs (only the one with `token`, where given) and waits for it; a
 * machine in its default kernel is left alone, so doing this twice is harmless.
 */
async function returnToDefault(
  host: HostFile,
  target: ShellTarget,
  token: string | null,
  signal: AbortSignal,
): Promise<void> {
  let bootId: string;
  try {
    const shell = await logIn(target);
    try {
      const evidence = await readEvidence(shell);
      const ours = token ? hasToken(evidence.cmdline, token) : / ?kdelta\.boot=/.test(evidence.cmdline);
      if (!ours) return;
      bootId = evidence.bootId;
      const go = 'sync; if [ -d /run/systemd/system ]; then systemctl reboot; else echo b >/proc/sysrq-trigger; fi';
      await endBoot(shell, bootId, go);
    } finally {
      shell.close();
    }
  } catch (error) {
    if (!(error instanceof ShellError)) {
      if (!(error instanceof BootError) || error.code !== 'KD_HOST_UNREACHABLE' || !host.power) throw error;
    }
    if (!host.power) throw new BootError('KD_HOST_UNREACHABLE', 'infra', (error as Error).message);
    await powerCycle(host);
    bootId = '';
  }
  const arrival = await waitForNewBoot(target, bootId, UP_MS, signal);
  if (!arrival.shell)
    throw new BootError('KD_HOST_UNREACHABLE', 'infra', 'the host did not come back to its default kernel');
  arrival.shell.close();
  if (/kdelta\.boot=/.test((arrival as Arrival).evidence.cmdline))
    throw new BootError('KD_HOST_SETUP', 'infra', 'the host rebooted, but not into its default kernel');
}

/** Starts `go` detached on the machine if it still is in the boot that we mean to end. */
async function endBoot(shell: Arrival['shell'], bootId: string, go: string): Promise<void> {
  const command = `PATH=$PATH:/usr/sbin:/sbin; read -r id </proc/sys/kernel/random/boot_id; [ "$id" = ${quoted(bootId)} ] || exit 4; setsid sh -c ${quoted(`sleep 0.3; ${go}`)} </dev/null >/dev/null 2>&1 &`;
  await shell.exec(command, { timeoutMs: 30_000 }).catch((error) => {
    // The machine may go down before it has said goodbye.
    if (!(error instanceof ShellError)) throw error;
  });
}

async function powerCycle(host: HostFile): Promise<void> {
  const run = (command: string) =>
    promisify(execFile)('sh', ['-c', command], { timeout: 60_000 }).catch((error) => {
      throw new BootError(
        'KD_HOST_SETUP',
        'infra',
        `${host.file}: power: \`${command}\` failed: ${String(error.stderr || error.message)
          .trim()
          .slice(0, 300)}`,
      );
    });
  await run(host.power!.off);
  await sleep(10_000);
  await run(host.power!.on);
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

async function readState(dir: string): Promise<KexecState | null> {
  const text = await readFile(join(dir, 'kexec.json'), 'utf8').catch(() => null);
  return text === null ? null : (JSON.parse(text) as KexecState);
}

async function writeState(dir: string, state: KexecState): Promise<void> {
  const file = join(dir, 'kexec.json');
  await writeFile(`${file}.new`, JSON.stringify(state));
  await rename(`${file}.new`, file);
}
