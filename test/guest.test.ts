import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cacheDir as cacheFolder, homeDir } from '@kdelta/home';
import { BootError, type BootedHost, type BootOrder, createDriver } from '@kdelta/hosts';
import { expandJob, type HostFile, packagesOf, parseJob, type Testcase } from '@kdelta/jobs';
import type { KernelArtifact } from '@kdelta/kernels';
import { type Programs, parseOutput } from '@kdelta/programs';
import { RunMarks, resumeBoot, runBoot, runPlace, startRun, waitForRun } from '@kdelta/runner';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { processesIn } from '../packages/hosts/src/process.ts';
import { prepareGuests } from './debianGuest.ts';

/* Real boots of Debian's packaged kernel under TCG, as few as tell the story. */
const cacheDir = cacheFolder();
const root = homeDir();
const signal = new AbortController().signal;
let dir: string;
let kernel: KernelArtifact;
let programs: Programs;
let tcg: HostFile;
let count = 0;

function order(cmdline = ''): BootOrder {
  const token = `guest${++count}`;
  const folder = join(dir, token);
  mkdirSync(folder);
  return { token, kernel, cmdline, dir: folder };
}

function testcaseOf(text: string, host = tcg): Testcase {
  return expandJob(parseJob(text, 'jobs/test.yaml', programs)[0]!, host, programs)[0]!;
}

const hooks = { cacheDir, signal };

beforeAll(async () => {
  ({ dir, programs, tcg, kernel } = await prepareGuests('kdelta-guest-'));
}, 300_000);

afterAll(async () => {
  expect(await processesIn(dir)).toEqual([]);
  rmSync(dir, { recursive: true, force: true });
});

describe('a guest', () => {
  describe('whose job sets up governors, a disk and swap', () => {
    const cpu = '/sys/devices/system/cpu';
    const base = () => runPlace(wanted.token, true).base;
    let wanted: BootOrder;
    let host: BootedHost;
    const read = async (command: string) => (await host.shell.exec(command)).stdout.toString().trim().split('\n');
    beforeAll(async () => {
      wanted = order();
      const testcase = testcaseOf(
        'runtime: 1s\nnr_threads: 1\ncpufreq_governor: powersave\ndisk: ext4\nswapon: zram\nswap_size: 64M\ndbench:\n',
      );
      const packages = packagesOf(testcase, programs);
      host = await createDriver(tcg, { cacheDir }).boot({ ...wanted, packages, scratchDisk: true }, signal);
      // A made-up tree of CPUs, and trouble that the kernel would have told.
      await host.shell.exec(
        `for n in 0 1 10 2; do mkdir -p /tmp/cpu/cpu$n/cpufreq; echo old$n >/tmp/cpu/cpu$n/cpufreq/scaling_governor; done; busybox mount --bind /tmp/cpu ${cpu}
        echo '<4>WARNING: CPU: 0 PID: 77 at mm/kdelta.c:7 injected+0x1/0x2' >/dev/kmsg`,
      );
      const spy = { ...testcase, monitors: [] };
      const marks = new RunMarks(() => {});
      const listening = await startRun(host.shell, spy, programs, runPlace(wanted.token, true), cacheDir, marks);
      await waitForRun(host.shell, spy, runPlace(wanted.token, true), { signal, listening, marks });
    }, 600_000);
    afterAll(() => host?.release());

    it('has each governor written, recorded and restored, on a made-up tree of CPUs', async () => {
      expect((await read(`cat ${base()}/out/reproduce.log`)).slice(0, 4)).toEqual(
        [0, 1, 10, 2].map((n) => `echo powersave > ${cpu}/cpu${n}/cpufreq/scaling_governor`),
      );
      expect(await read(`cat ${base()}/out/cpufreq_governor.saved`)).toEqual(
        [0, 1, 10, 2].map((n) => `${cpu}/cpu${n}/cpufreq/scaling_governor old${n}`),
      );
      expect(await read(`cat ${cpu}/cpu*/cpufreq/scaling_governor`)).toEqual(['old0', 'old1', 'old10', 'old2']);
    });

    it('runs its benchmark on a new file system, and finds the disk blank afterwards', async () => {
      const disk = await read(`cat ${base()}/out/disk`);
      // 4 GiB, as hosts/qemu-tcg.yaml says.
      expect(disk[0]).toBe('size: 4096');
      expect(disk[1]).toMatch(new RegExp(`^# /dev/vdc /dev/shm/kdelta-${wanted.token} ext4 rw,`));
      expect(disk.at(-1)).toBe('restored');
      expect(await read(`cat ${base()}/out/exit`)).toEqual(['ok']);
      expect(await read('blkid -p /dev/vdc; echo $?; grep -c vdc /proc/mounts')).toEqual(['2', '0']);
    });

    it('never overwrites a disk that is mounted, or that somebody else has used', async () => {
      const setup = (disk: string) =>
        read(
          `mkdir -p /tmp/own && cd /tmp && env disk=ext4 scratch_disk=${disk} KD_OUT=/tmp/own KD_TMP=/tmp/own/mnt KD_REPRODUCE=/dev/null sh ${base()}/programs/disk/setup; echo $?`,
        );
      expect(await setup('/dev/vda')).toEqual([
        expect.stringMatching(/^# refused: \/dev\/vda is (mounted|not blank)/),
        '1',
      ]);
      await host.shell.exec('mkfs.ext4 -q -F -L photos /dev/vdc');
      expect(await setup('serial:scratch-4096M')).toEqual([
        '# refused: /dev/vdc is not blank and not made by kdelta; wipe it by hand (wipefs -a)',
        '1',
      ]);
      expect(await read('blkid -p -o value -s LABEL /dev/vdc')).toEqual(['photos']);
      expect(await setup('serial:other')).toEqual(['# refused: this host has no scratch disk (serial:other)', '1']);
    });

    it('swaps to compressed memory meanwhile, and not afterwards', async () => {
      const swap = await read(`cat ${base()}/out/swapon`);
      // 64 MiB less the page of the header.
      expect(swap).toContain('size: 65532');
      expect(swap).toContain('restored');
      expect(await read('tail -n +2 /proc/swaps; ls -d /sys/block/zram1 2>/dev/null')).toEqual(['']);
    });

    it('keeps the kernel’s messages, with what was written to /dev/kmsg and marks of the program', async () => {
      const log = await read(`cat ${base()}/out/dmesg`);
      const at = (words: string) => log.findIndex((line) => line.includes(words));
      expect(at('kdelta: dbench-')).toBeGreaterThan(at('injected+0x1'));
      expect(log.filter((line) => /kdelta: dbench-\S+: dbench (begins|ended)$/.test(line))).toHaveLength(2);
      const { samples } = await parseOutput(programs.get('dmesg')!, Buffer.from(`${log.join('\n')}\n`), { cacheDir });
      expect(samples['dmesg.WARNING:at_mm/kdelta.c:#injected']).toEqual([1]);
    });
  });

  it('runs a testcase; its raw files, evidence and timeline are there', { timeout: 600_000 }, async () => {
    const wanted = order('init_on_alloc=0');
    const testcase = testcaseOf('runtime: 2s\nnr_threads: 1\ncpufreq_governor: performance\ndbench:\n');
    const result = await runBoot(createDriver(tcg, { cacheDir }), wanted, testcase, programs, wanted.dir, hooks);
    expect(result.outcome).toEqual({ kind: 'done' });
    expect(result.evidence).toMatchObject({ release: kernel.release });
    expect(result.evidence!.cmdline).toMatch(/kdelta\.boot=guest\d+ init_on_alloc=0$/);
    expect(readFileSync(join(result.files!, 'dbench'), 'utf8')).toMatch(/^Throughput [\d.]+ MB\/sec/m);
    expect(readFileSync(join(result.files!, 'reproduce.log'), 'utf8')).toBe(
      'dbench 1 -c /usr/share/dbench/client.txt -t 2\n',
    );
    expect(result.timeline.map((entry) => entry.what)).toEqual([
      'boot start',
      'qemu start',
      'init',
      'first login',
      'program start',
      'program end',
      'collected',
      'released',
    ]);
  });

  it('that panics is class boot, with the panic’s own words', { timeout: 300_000 }, async () => {
    const error = await createDriver(tcg, { cacheDir })
      .boot(order('rdinit=/no/such/init root=/dev/nowhere'), signal)
      .catch((e) => e);
    expect(error).toBeInstanceOf(BootError);
    expect(error).toMatchObject({ code: 'KD_BOOT_PANIC', failureClass: 'boot' });
    expect(error.console).toContain('Kernel panic');
  });

  it('that hangs is class boot, without waiting for a time limit', { timeout: 300_000 }, async () => {
    const error = await createDriver(tcg, { cacheDir })
      .boot(order('rdinit=/bin/busybox -- sleep 9999'), signal)
      .catch((e) => e);
    expect(error).toMatchObject({ code: 'KD_BOOT_HANG', failureClass: 'boot' });
  });

  it('whose job is under way survives the worker’s kill -9 and is collected by another', {
    timeout: 600_000,
  }, async () => {
    const wanted = order();
    const testcase = testcaseOf('runtime: 6s\nnr_threads: 1\ndbench:\n');
    // Bare imports are found from the checkout.
    const child = join(root, 'node_modules/.cache/kdelta-bootChild.mjs');
    await build({
      entryPoints: [join(root, 'test/bootChild.ts')],
      outfile: child,
      bundle: true,
      platform: 'node',
      format: 'esm',
      external: ['ssh2', 'esbuild'],
      banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    });
    const worker = spawn('node', [child, JSON.stringify({ host: tcg, order: wanted, testcase, cacheDir })], {
      stdio: ['ignore', 'pipe', 'inherit'],
      cwd: root,
    });
    await new Promise<void>((resolve, reject) => {
      worker.stdout.on('data', (chunk) => String(chunk).includes('program') && resolve());
      worker.on('exit', (code) => reject(new Error(`the worker ended with ${code} before its program began`)));
    });
    worker.kill('SIGKILL');
    await sleep(200);
    const driver = createDriver(tcg, { cacheDir });
    const result = await resumeBoot(driver, wanted, testcase, programs, wanted.dir, hooks);
    expect(result?.outcome).toEqual({ kind: 'done' });
    expect(readFileSync(join(result!.files!, 'dbench'), 'utf8')).toMatch(/^Throughput/m);
    // Nothing of it is left for a third.
    expect(await resumeBoot(driver, wanted, testcase, programs, wanted.dir, hooks)).toBeNull();
  });

  it('left behind by a killed worker is cleared', { timeout: 300_000 }, async () => {
    const wanted = order();
    const driver = createDriver(tcg, { cacheDir });
    const host = await driver.boot(wanted, signal);
    await createDriver(tcg, { cacheDir }).clear(wanted.dir);
    expect(await host.died).toMatchObject({ failureClass: 'boot' });
    expect(await driver.reattach(wanted, signal)).toBeNull();
    await host.release();
  });
});
