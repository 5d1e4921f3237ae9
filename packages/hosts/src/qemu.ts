import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HostFile } from '@kdelta/jobs';
import { hashFile } from '@kdelta/kernels';
import { ConsoleTail, consoleText, isStaleBreakpoint, lastLines } from './console.ts';
import { BootError, ShellError } from './errors.ts';
import { readEvidence, requireRightBoot } from './evidence.ts';
import { type GuestFiles, makeGuestFiles } from './guestFiles.ts';
import { knownKvm, rememberKvm } from './kvmProbe.ts';
import { cpuSeconds, identify, isAlive, kill, type ProcessId, processesIn } from './process.ts';
import { type Accel, guestCmdline, qemuArguments, TCG_CPU } from './qemuArguments.ts';
import { qmp } from './qmp.ts';
import { makeRootfs, type Rootfs, readRootfs } from './rootfs.ts';
import { makeScratchDisk } from './scratchDisk.ts';
import { openShell } from './shell.ts';
import { runTool } from './tool.ts';
import type { BootedHost, BootOrder, HostDriver, Shell, TimelineEntry } from './types.ts';

export interface HostContext {
  cacheDir: string;
  /** Debian packages that every boot needs, beyond its testcase's. */
  packages?: string[];
  /** One line per thing worth knowing: a fallback, a rootfs being made. */
  progress?: (what: string) => void;
}

const QEMU = 'qemu-system-x86_64';
/** A guest that uses this much CPU per virtual CPU without a word on its console hangs; so does one silent and idle for as long. */
const HANG_SECONDS = 25;
/** From init's mark to a login; the guest must also have used CPU for a third of it, or none, to be called hanging. */
const LOGIN_MS = 60_000;
const BOOT_MS = 600_000;
const KVM_PROBE_MS = 30_000;
/** How often a guest that falls over a fault of QEMU is started; a kernel that falls so each time is to blame itself. */
const EMULATOR_STARTS = 3;
const CONSOLE_MAX_BYTES = 64 * 2 ** 20;

/** What a second process needs to take over a running guest; lies in the boot's folder. */
interface GuestState {
  process: ProcessId;
  host: string;
  token: string;
  port: number;
  accel: Accel;
  /** The folder whose keys open it. */
  rootfs: string;
  timeline: TimelineEntry[];
}

/**
 * Guests on this machine. QEMU runs detached: it outlives a killed worker, and `reattach` takes it over. The life of a
 * boot: files made (cached) → image hashed → QEMU started → init's mark on the console → first login → evidence read.
 * Panic, early end and hang are seen on the console and by QEMU's own CPU time, so a busy machine isn't taken for a hang.
 */
export function qemuDriver(host: HostFile, ctx: HostContext): HostDriver {
  const boot = host.boot;
  if (boot.method !== 'qemu') throw new Error(`${host.file}: boot method ${boot.method} is not for the qemu driver`);
  const rootfsFor = (packages: string[] = [], signal?: AbortSignal) =>
    makeRootfs(ctx.cacheDir, [...(ctx.packages ?? []), ...packages], { signal, progress: ctx.progress });
  return {
    host,
    async boot(order, signal) {
      const timeline: TimelineEntry[] = [{ at: Date.now(), what: 'boot start' }];
      await mkdir(order.dir, { recursive: true });
      const rootfs = await rootfsFor(order.packages, signal);
      const files = await makeGuestFiles(ctx.cacheDir, order.kernel, rootfs, signal);
      if ((await hashFile(order.kernel.image)) !== order.kernel.imageSha256)
        throw new BootError(
          'KD_BOOT_IMAGE',
          'infra',
          `${order.kernel.image} isn't what was built; remove it from the cache`,
        );
      const start = async (accel: Accel, limitMs: number): Promise<BootedHost> => {
        for (let starts = 1; ; starts++) {
          try {
            return await startGuest({ host, order, rootfs, files, accel, limitMs, timeline, signal });
          } catch (error) {
            if (!(error instanceof BootError && error.code === 'KD_EMULATOR')) throw error;
            if (starts === EMULATOR_STARTS)
              throw new BootError(
                'KD_BOOT_PANIC',
                'boot',
                `in each of ${starts} starts: ${error.message}`,
                error.console,
              );
            ctx.progress?.(`${host.name}: ${error.message}; starting the guest again`);
            timeline.push({ at: Date.now(), what: 'qemu fault' });
          }
        }
      };

      if (boot.accel !== 'auto') return await start(boot.accel, BOOT_MS);
      const known = await knownKvm(ctx.cacheDir);
      if (known !== null) return await start(known.works ? 'kvm' : 'tcg', BOOT_MS);
      try {
        const guest = await start('kvm', KVM_PROBE_MS);
        await rememberKvm(ctx.cacheDir, { works: true, why: '' });
        return guest;
      } catch (error) {
        if (!(error instanceof BootError) || error.code === 'KD_BOOT_STOPPED') throw error;
        // Only when the same kernel boots without KVM is KVM to blame.
        const guest = await start('tcg', BOOT_MS);
        const why = error.message.split('\n')[0]!;
        await rememberKvm(ctx.cacheDir, { works: false, why });
        ctx.progress?.(`${host.name}: KVM can't boot this kernel here (${why}); using TCG from now on`);
        return guest;
      }
    },
    async reattach(order, signal) {
      const state = await readState(order.dir);
      if (!state || state.token !== order.token || !(await isAlive(state.process))) return null;
      const rootfs = await readRootfs(state.rootfs);
      const tail = new ConsoleTail(join(order.dir, 'console.log'));
      const guest: Guest = { host, order, rootfs, state, tail, timeline: state.timeline };
      for (const sign of await tail.read()) if (sign.kind === 'panic') throw await panicked(guest, sign.message);
      const shell = await login(guest, signal);
      state.timeline.push({ at: Date.now(), what: 'reattached' });
      return await bootedGuest(guest, shell);
    },
    clear: (dir) => clearGuests(host.name, dir),
    async versions(packages) {
      const rootfs = await rootfsFor(packages);
      const version = /version (\S+)/.exec(await runTool(QEMU, ['--version']))?.[1] ?? 'unknown';
      const accel = boot.accel === 'auto' ? ((await knownKvm(ctx.cacheDir))?.works ? 'kvm' : 'tcg') : boot.accel;
      return {
        rootfs: rootfs.key,
        qemu: version,
        accel: boot.icount ? 'tcg,icount' : accel,
        cpu: accel === 'kvm' ? 'host' : TCG_CPU,
      };
    },
  };
}

interface Start {
  host: HostFile;
  order: BootOrder;
  rootfs: Rootfs;
  files: GuestFiles;
  accel: Accel;
  limitMs: number;
  timeline: TimelineEntry[];
  signal: AbortSignal;
}

interface Guest {
  host: HostFile;
  order: BootOrder;
  rootfs: Rootfs;
  state: GuestState;
  tail: ConsoleTail;
  timeline: TimelineEntry[];
}

async function startGuest(start: Start): Promise<BootedHost> {
  const { host, order, rootfs, files, accel, timeline, signal } = start;
  if (host.boot.method !== 'qemu') throw new Error('unreachable');
  for (const name of ['console.log', 'qmp.sock', 'guest.json']) await rm(join(order.dir, name), { force: true });
  await writeFile(join(order.dir, 'console.log'), '');
  const scratchDisk = order.scratchDisk ? await makeScratchDisk(host, order.dir) : undefined;
  const args = qemuArguments({
    name: guestName(host.name, order.token),
    boot: host.boot,
    accel,
    image: order.kernel.image,
    initrd: files.initrd,
    rootfs: rootfs.image,
    modulesDisk: files.modulesDisk,
    scratchDisk,
    cmdline: guestCmdline(order.token, order.cmdline),
  });
  signal.throwIfAborted();
  timeline.push({ at: Date.now(), what: 'qemu start' });
  const process = await spawnDetached(args, order.dir);
  const state: GuestState = {
    process,
    host: host.name,
    token: order.token,
    port: 0,
    accel,
    rootfs: rootfs.dir,
    timeline,
  };
  const guest: Guest = { host, order, rootfs, state, tail: new ConsoleTail(join(order.dir, 'console.log')), timeline };
  try {
    await writeState(order.dir, state);
    await waitForInit(guest, start.limitMs, signal);
    state.port = await forwardedPort(guest);
    // QEMU has it open: what was written goes with the guest, however that ends.
    if (scratchDisk) await rm(scratchDisk.file, { force: true });
    timeline.push({ at: Date.now(), what: 'init' });
    const shell = await login(guest, signal);
    const booted = await bootedGuest(guest, shell);
    await writeState(order.dir, state);
    return booted;
  } catch (error) {
    await kill(process);
    if (scratchDisk) await rm(scratchDisk.file, { force: true });
    if (signal.aborted) throw new BootError('KD_BOOT_STOPPED', 'infra', 'the boot was stopped', '', { cause: error });
    throw error;
  }
}

async function spawnDetached(args: string[], dir: string): Promise<ProcessId> {
  const log = openSync(join(dir, 'qemu.log'), 'w');
  try {
    const child = spawn(QEMU, args, {
      cwd: dir,
      detached: true,
      stdio: ['ignore', log, log],
      // The throw-away layer of the disk is an unlinked file there.
      env: { PATH: process.env.PATH, TMPDIR: dir },
    });
    const pid = await new Promise<number>((resolve, reject) => {
      child.once('spawn', () => resolve(child.pid!));
      child.once('error', () =>
        reject(new BootError('KD_HOST_SETUP', 'infra', `${QEMU} is not installed (Debian package qemu-system-x86)`)),
      );
    });
    child.unref();
    return (await identify(pid)) ?? { pid, startTime: 'gone' };
  } finally {
    closeSync(log);
  }
}

/** Waits for init's mark on the console; throws the class of what came instead. */
async function waitForInit(guest: Guest, limitMs: number, signal: AbortSignal): Promise<void> {
  const { pid } = guest.state.process;
  const nrCpu = guest.host.nrCpu;
  const until = Date.now() + limitMs;
  let quietSince = Date.now();
  let cpuThen = 0;
  let sizeThen = -1;
  for (;;) {
    signal.throwIfAborted();
    const alive = await isAlive(guest.state.process);
    for (const sign of await guest.tail.read()) {
      if (sign.kind === 'up') return;
      await sleep(300);
      throw await panicked(guest, sign.message);
    }
    if (!alive) throw await ended(guest);
    const cpu = await cpuSeconds(pid);
    if (guest.tail.size !== sizeThen) {
      sizeThen = guest.tail.size;
      cpuThen = cpu;
      quietSince = Date.now();
    }
    const busy = (cpu - cpuThen) / nrCpu;
    const quiet = (Date.now() - quietSince) / 1000;
    if (busy > HANG_SECONDS || (quiet > HANG_SECONDS && cpu - cpuThen < 1) || Date.now() > until)
      throw await failure(
        guest,
        'KD_BOOT_HANG',
        `the kernel hangs: silent for ${quiet.toFixed(0)} s, ${(cpu - cpuThen).toFixed(0)} s of CPU used, before anybody could log in`,
      );
    if (guest.tail.size > CONSOLE_MAX_BYTES)
      throw await failure(guest, 'KD_BOOT_HANG', 'the kernel floods its console before anybody could log in');
    await sleep(50);
  }
}

async function login(guest: Guest, signal: AbortSignal): Promise<Shell> {
  const { state, rootfs } = guest;
  if (state.port === 0) state.port = await forwardedPort(guest);
  const until = Date.now() + LOGIN_MS;
  const cpuThen = await cpuSeconds(state.process.pid);
  for (;;) {
    signal.throwIfAborted();
    try {
      return await openShell({
        host: '127.0.0.1',
        port: state.port,
        user: guest.host.access?.user ?? 'root',
        privateKey: rootfs.clientKey,
        hostKey: rootfs.hostKey,
        connectTimeoutMs: LOGIN_MS,
        keepaliveMs: 20_000,
      });
    } catch (error) {
      for (const sign of await guest.tail.read()) if (sign.kind === 'panic') throw await panicked(guest, sign.message);
      if (!(await isAlive(state.process))) throw await ended(guest);
      if (error instanceof ShellError && error.code === 'KD_SSH_KEY')
        throw new BootError('KD_HOST_KEY', 'infra', error.message);
      const cpu = (await cpuSeconds(state.process.pid)) - cpuThen;
      if (Date.now() > until && (cpu > LOGIN_MS / 3000 || cpu < 1 || Date.now() > until + BOOT_MS)) {
        const message = error instanceof Error ? error.message : String(error);
        throw await failure(
          guest,
          'KD_BOOT_HANG',
          `nobody could log in within ${LOGIN_MS / 1000} s after init: ${message}`,
        );
      }
      await sleep(50);
    }
  }
}

async function bootedGuest(guest: Guest, shell: Shell): Promise<BootedHost> {
  const { order, state, timeline } = guest;
  const console = (maxBytes?: number) => consoleText(join(order.dir, 'console.log'), maxBytes);
  const evidence = await readEvidence(shell).catch(async (error) => {
    throw (await isAlive(state.process))
      ? await failure(guest, 'KD_BOOT_HANG', String(error.message))
      : await ended(guest);
  });
  requireRightBoot(order, evidence, lastLines(await console(8192)));
  timeline.push({ at: Date.now(), what: 'first login' });
  let released = false;
  return {
    evidence,
    shell,
    timeline,
    died: watch(guest, () => released),
    console,
    async release() {
      released = true;
      shell.close();
      await kill(state.process);
      timeline.push({ at: Date.now(), what: 'released' });
    },
  };
}

/** Resolves when the guest dies under us; never, when it is released. */
async function watch(guest: Guest, released: () => boolean): ReturnType<() => BootedHost['died']> {
  for (;;) {
    const alive = await isAlive(guest.state.process);
    if (released()) return await new Promise(() => {});
    for (const sign of await guest.tail.read()) {
      if (sign.kind !== 'panic') continue;
      await sleep(300);
      return await panicked(guest, sign.message);
    }
    if (!alive) return { failureClass: 'boot', message: 'the guest ended while the job ran' };
    if (guest.tail.size > CONSOLE_MAX_BYTES) return { failureClass: 'boot', message: 'the kernel floods its console' };
    await sleep(200);
  }
}

async function failure(guest: Guest, code: BootError['code'], message: string): Promise<BootError> {
  return new BootError(
    code,
    'boot',
    message,
    lastLines(await consoleText(join(guest.order.dir, 'console.log'), 16_384)),
  );
}

async function panicked(guest: Guest, message: string): Promise<BootError> {
  const printed = await consoleText(join(guest.order.dir, 'console.log'), 16_384);
  return guest.state.accel === 'tcg' && isStaleBreakpoint(printed)
    ? new BootError('KD_EMULATOR', 'infra', `a fault of QEMU, not of the kernel: ${message}`, lastLines(printed))
    : new BootError('KD_BOOT_PANIC', 'boot', `kernel panic: ${message}`, lastLines(printed));
}

/** QEMU is gone: by a panic, by itself, or because it never could start. */
async function ended(guest: Guest): Promise<BootError> {
  for (const sign of await guest.tail.read()) if (sign.kind === 'panic') return await panicked(guest, sign.message);
  const said = (await readFile(join(guest.order.dir, 'qemu.log'), 'utf8').catch(() => '')).trim();
  const printed = lastLines(await consoleText(join(guest.order.dir, 'console.log'), 16_384));
  if (said !== '' && printed === '')
    return new BootError('KD_HOST_SETUP', 'infra', `QEMU ended: ${said.split('\n').slice(-2).join(' ').slice(0, 500)}`);
  return new BootError('KD_BOOT_EXIT', 'boot', 'the guest ended before anybody could log in', printed);
}

async function forwardedPort(guest: Guest): Promise<number> {
  const text = (await qmp(guest.order.dir, 'human-monitor-command', { 'command-line': 'info usernet' }).catch(
    async () => {
      throw await ended(guest);
    },
  )) as string;
  const port = /TCP\[HOST_FORWARD\]\s+\d+\s+127\.0\.0\.1\s+(\d+)/.exec(text)?.[1];
  if (!port) throw new BootError('KD_HOST_SETUP', 'infra', `QEMU names no forwarded port: ${text.slice(0, 200)}`);
  return Number(port);
}

const guestName = (host: string, token: string): string => `kdelta:${host}:${token}`;

async function clearGuests(host: string, dir: string): Promise<void> {
  for (const { id, args } of await processesIn(dir)) {
    const name = args[args.indexOf('-name') + 1] ?? '';
    if (args[0]?.endsWith(QEMU) && name.startsWith(guestName(host, ''))) await kill(id);
  }
}

async function readState(dir: string): Promise<GuestState | null> {
  const text = await readFile(join(dir, 'guest.json'), 'utf8').catch(() => null);
  return text === null ? null : (JSON.parse(text) as GuestState);
}

async function writeState(dir: string, state: GuestState): Promise<void> {
  const file = join(dir, 'guest.json');
  await writeFile(`${file}.new`, JSON.stringify(state));
  await rename(`${file}.new`, file);
}
