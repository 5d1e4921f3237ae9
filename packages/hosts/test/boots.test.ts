import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseHost } from '@kdelta/jobs';
import { describe, expect, it } from 'vitest';
import { ConsoleTail, cleanText, isStaleBreakpoint, signOf } from '../src/console.ts';
import { writeCpio } from '../src/cpio.ts';
import { wrongBoot } from '../src/evidence.ts';
import { loadOrder } from '../src/guestFiles.ts';
import { kexecCmdline } from '../src/kexec.ts';
import { guestCmdline, qemuArguments } from '../src/qemuArguments.ts';
import { makeScratchDisk } from '../src/scratchDisk.ts';
import type { BootOrder } from '../src/types.ts';

const order = { token: 'abc', kernel: { release: '6.12.1-kd0123456789ab' } } as BootOrder;
const evidence = (cmdline: string, release = '6.12.1-kd0123456789ab') => ({
  bootId: 'new',
  release,
  cmdline,
  tainted: 0,
});

describe('the proof of the right boot', () => {
  it('is a new boot_id, our token and the release of the build, all three', () => {
    expect(wrongBoot(order, evidence('quiet kdelta.boot=abc'), 'old')).toBeNull();
    expect(wrongBoot(order, evidence('kdelta.boot=abc'), 'new')).toMatch(/not restarted/);
    expect(wrongBoot(order, evidence('quiet'), 'old')).toMatch(/without our token/);
    expect(wrongBoot(order, evidence('kdelta.boot=abcd'), 'old')).toMatch(/without our token/);
    expect(wrongBoot(order, evidence('kdelta.boot=abc', '6.12.1-kdffffffffffff'), 'old')).toMatch(/ordered was/);
  });
});

describe('a console', () => {
  it('tells of a panic and of a guest that is up', () => {
    expect(
      signOf('[    1.5] Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)\r'),
    ).toEqual({
      kind: 'panic',
      message: 'VFS: Unable to mount root fs on unknown-block(0,0)',
    });
    expect(signOf('kdelta-init: up 2.40')).toEqual({ kind: 'up' });
    expect(signOf('[    1.5] panic_on_oops is 1')).toBeNull();
  });

  it('tells an oops on a breakpoint that is no longer in the code from the kernel’s own', () => {
    const oops = (what: string, bytes: string) =>
      `[    1.3] ${what} PREEMPT SMP NOPTI\n[    1.3] RIP: 0010:sched_clock_cpu+0x9/0x190\n[    1.3] Code: 54 55 ${bytes} e8 c1\n`;
    expect(isStaleBreakpoint(oops('Oops: int3: 0000 [#1]', '66 <90>'))).toBe(true);
    // 6.1's words
    expect(isStaleBreakpoint(oops('int3: 0000 [#1]', '66 <90>'))).toBe(true);
    expect(isStaleBreakpoint(oops('Oops: int3: 0000 [#1]', 'cc <90>'))).toBe(false);
    expect(isStaleBreakpoint(oops('Oops: 0002 [#1]', '66 <90>'))).toBe(false);
    // What follows the first oops is its consequence.
    expect(isStaleBreakpoint(oops('Oops: 0002 [#1]', '0f <0b>') + oops('Oops: int3: 0000 [#2]', '66 <90>'))).toBe(
      false,
    );
    expect(isStaleBreakpoint('[    1.3] Oops: int3: 0000 [#1]\n[    1.3] Code: Unable to access opcode bytes')).toBe(
      false,
    );
  });

  it('is followed line by line, however its bytes arrive', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'kdelta-console-'));
    const file = join(dir, 'console.log');
    const tail = new ConsoleTail(file);
    expect(await tail.read()).toEqual([]);
    writeFileSync(file, 'Kernel panic - not sync');
    expect(await tail.read()).toEqual([]);
    writeFileSync(file, 'Kernel panic - not syncing: x\nmore');
    expect(await tail.read()).toEqual([{ kind: 'panic', message: 'x' }]);
    expect(await tail.read()).toEqual([]);
    rmSync(dir, { recursive: true });
  });

  it('is shown without escape sequences and control characters', () => {
    expect(cleanText('\x1bc\x1b[?7l\x1b[2Ja\x1b]0;title\x07b\x00\x07c\r\nd')).toBe('abc\nd');
  });
});

describe('an initrd', () => {
  it('is an archive that cpio reads', () => {
    const archive = writeCpio([
      { path: 'bin', mode: 'folder' },
      { path: 'bin/x', mode: 'executable', content: Buffer.from('hello') },
      { path: 'empty', mode: 'file' },
    ]);
    const listing = execFileSync('busybox', ['cpio', '-tv'], { input: archive }).toString();
    expect(listing).toMatch(/^drwxr-xr-x .* bin$/m);
    expect(listing).toMatch(/^-rwxr-xr-x .* 5 .* bin\/x$/m);
    expect(listing).toMatch(/^-rw-r--r-- .* 0 .* empty$/m);
  });

  it('loads each module after those it needs', () => {
    const dep = [
      'kernel/drivers/net/virtio_net.ko.xz: kernel/drivers/net/net_failover.ko.xz kernel/net/core/failover.ko.xz',
      'kernel/drivers/net/net_failover.ko.xz: kernel/net/core/failover.ko.xz',
      'kernel/net/core/failover.ko.xz:',
      'kernel/drivers/block/virtio_blk.ko.xz:',
    ].join('\n');
    expect(loadOrder(dep, ['virtio_blk', 'virtio_net']).map((path) => path.replace(/.*\//, ''))).toEqual([
      'virtio_blk.ko.xz',
      'failover.ko.xz',
      'net_failover.ko.xz',
      'virtio_net.ko.xz',
    ]);
    expect(() => loadOrder(dep, ['ext4'])).toThrow(/ext4/);
  });
});

describe('command lines', () => {
  it('of a kexec keep the machine’s own parameters and drop those of its loader and of earlier boots', () => {
    expect(
      kexecCmdline('BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro panic=0 kdelta.boot=old quiet', 'new', 'init_on_alloc=1'),
    ).toBe('root=/dev/sda1 ro quiet panic=10 kdelta.boot=new init_on_alloc=1');
  });

  it('of a guest carry the token and the parameters of the order', () => {
    expect(guestCmdline('abc', 'init_on_alloc=1').split(' ')).toEqual(
      expect.arrayContaining(['kdelta.boot=abc', 'init_on_alloc=1', 'panic=-1']),
    );
  });

  it('of QEMU count instructions on an icount host and double the commas of a path', () => {
    const args = qemuArguments({
      name: 'x',
      boot: { method: 'qemu', accel: 'tcg', icount: true, nrCpu: 1, memory: 2 ** 29, rootfs: 'debian' },
      accel: 'tcg',
      image: '/a/bzImage',
      rootfs: '/a,b/rootfs.ext4',
      cmdline: '',
    });
    expect(args[args.indexOf('-icount') + 1]).toBe('shift=1');
    expect(args[args.indexOf('-m') + 1]).toBe('512M');
    expect(args.join(' ')).toContain('file=/a,,b/rootfs.ext4');
    expect(args.join(' ')).not.toContain('serial=');
  });
});

describe('a scratch disk', () => {
  it('is a blank, sparse file of the size in the host file', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'kdelta-disk-'));
    try {
      const host = parseHost('boot: {method: qemu}\nscratch_disk: 64M\n', 'hosts/g.yaml');
      const disk = await makeScratchDisk(host, dir);
      expect(disk.serial).toBe('scratch-64M');
      expect(statSync(disk.file)).toMatchObject({ size: 64 * 2 ** 20, blocks: 0 });
      // Nobody's /tmp has room for an exbibyte.
      const huge = { ...host, scratchDisk: { bytes: 2 ** 60 } };
      await expect(makeScratchDisk(huge, dir)).rejects.toMatchObject({ code: 'KD_HOST_SETUP', failureClass: 'infra' });
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});
