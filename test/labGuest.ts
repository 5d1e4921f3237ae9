import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeRootfs } from '@kdelta/hosts';
import type { HostFile } from '@kdelta/jobs';
import type { KernelArtifact } from '@kdelta/kernels';
import { consoleText } from '../packages/hosts/src/console.ts';
import { makeGuestFiles } from '../packages/hosts/src/guestFiles.ts';
import { qemuArguments } from '../packages/hosts/src/qemuArguments.ts';
import { qmp } from '../packages/hosts/src/qmp.ts';

export interface LabGuest {
  host: HostFile;
  console(): Promise<string>;
  stop(): Promise<void>;
}

/**
 * A TCG guest that stands for a lab machine: kdelta knows it by SSH only. A reset brings its default kernel back, as
 * QEMU loads that one from outside.
 */
export async function startLabGuest(
  cacheDir: string,
  kernel: KernelArtifact,
  packages: string[] = [],
): Promise<LabGuest> {
  const rootfs = await makeRootfs(cacheDir, ['kexec-tools', ...packages]);
  const files = await makeGuestFiles(cacheDir, kernel, rootfs);
  const dir = await mkdtemp(join(tmpdir(), 'kdelta-lab-'));
  const memory = 2 ** 30;
  const args = qemuArguments({
    name: `lab:${dir}`,
    boot: { method: 'qemu', accel: 'tcg', icount: false, nrCpu: 1, memory, rootfs: 'debian' },
    accel: 'tcg',
    image: kernel.image,
    initrd: files.initrd,
    rootfs: rootfs.image,
    // No modules disk: a lab machine's /lib/modules can be written to.
    cmdline: 'console=ttyS0 root=/dev/vda rw net.ifnames=0 no_timer_check panic=5',
    restarts: true,
  });
  await writeFile(join(dir, 'console.log'), '');
  const qemu = spawn('qemu-system-x86_64', args, { cwd: dir, stdio: 'ignore', env: { ...process.env, TMPDIR: dir } });
  const gone = new Promise((resolve) => qemu.once('exit', resolve));
  const console = () => consoleText(join(dir, 'console.log'), 65_536);
  while (!(await console()).includes('kdelta-init: up')) {
    if (qemu.exitCode !== null) throw new Error(`the lab guest ended: ${await console()}`);
    await sleep(200);
  }
  const text = (await qmp(dir, 'human-monitor-command', { 'command-line': 'info usernet' })) as string;
  const port = Number(/TCP\[HOST_FORWARD\]\s+\d+\s+127\.0\.0\.1\s+(\d+)/.exec(text)?.[1]);
  const key = join(dir, 'client_key');
  await writeFile(key, rootfs.clientKey, { mode: 0o600 });
  return {
    host: {
      name: 'lab',
      file: 'hosts/lab.yaml',
      tboxGroup: 'lab',
      nrCpu: 1,
      nrNode: 1,
      memory,
      access: { host: '127.0.0.1', port, user: 'root', key, hostKey: rootfs.hostKey },
      boot: { method: 'kexec' },
      deterministic: false,
    },
    console,
    async stop() {
      qemu.kill('SIGKILL');
      await gone;
      await rm(dir, { recursive: true, force: true });
    },
  };
}
