import { createReadStream, existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KernelArtifact } from '@kdelta/kernels';
import { BootError } from './errors.ts';
import { BOOT_DRIVERS } from './guest.ts';
import { makeGuestFiles } from './guestFiles.ts';
import { makeRootfs } from './rootfs.ts';
import { runTool } from './tool.ts';
import type { Shell } from './types.ts';

/** Files of a kernel on a machine, hash-checked there. */
export interface Staged {
  image: string;
  initrd: string | null;
}

/**
 * Copies image, initrd and modules to a machine, unless they lie there from an earlier boot, syncs them and reads the
 * image's sha256 there: a kernel cut short may well boot after a warm start, the rest of it still being in memory.
 * Throws KD_BOOT_IMAGE when the hash is another.
 */
export async function stageKernel(
  shell: Shell,
  kernel: KernelArtifact,
  cacheDir: string,
  signal: AbortSignal,
): Promise<Staged> {
  const dir = `/var/lib/kdelta/kernels/${safe(kernel.buildKey)}`;
  const image = `${dir}/bzImage`;
  await must(shell, `mkdir -p ${dir}`, 'make a folder for kernels');
  if ((await sha256(shell, image)) !== kernel.imageSha256) {
    await must(shell, `cat >${image}`, 'take the image', createReadStream(kernel.image));
    await must(shell, `sync ${image} 2>/dev/null || sync`, 'sync');
    const there = await sha256(shell, image);
    if (there !== kernel.imageSha256) {
      await shell.exec(`rm -f ${image}`, { timeoutMs: 30_000 });
      throw new BootError(
        'KD_BOOT_IMAGE',
        'infra',
        `the image on the host has sha256 ${there.slice(0, 16)}…, built was ${kernel.imageSha256.slice(0, 16)}…: not started`,
      );
    }
  }
  signal.throwIfAborted();
  await stageModules(shell, kernel, signal);
  const initrd = await stageInitrd(shell, kernel, dir, cacheDir, signal);
  return { image, initrd };
}

async function stageModules(shell: Shell, kernel: KernelArtifact, signal: AbortSignal): Promise<void> {
  const release = safe(kernel.release);
  if (!kernel.modules || !existsSync(join(kernel.modules, 'lib/modules', release))) return;
  const mark = `/lib/modules/${release}/.kdelta-${safe(kernel.buildKey)}`;
  if ((await shell.exec(`[ -f ${mark} ]`, { timeoutMs: 30_000 })).status === 0) return;
  const folder = await mkdtemp(join(tmpdir(), 'kdelta-modules-'));
  try {
    const archive = join(folder, 'modules.tar.gz');
    await runTool(
      'tar',
      [
        '-C',
        join(kernel.modules, 'lib/modules'),
        '--exclude=build',
        '--exclude=source',
        '-I',
        'gzip -1',
        '-cf',
        archive,
        release,
      ],
      { signal },
    );
    const unpack = `mkdir -p /lib/modules && rm -rf /lib/modules/${release} && gzip -dc | tar -C /lib/modules -xf - && depmod ${release} && : >${mark} && sync`;
    await must(shell, unpack, 'take the modules', createReadStream(archive));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The machine's own tool makes its initrd, as only it knows what its root needs; a bare guest gets ours. */
async function stageInitrd(
  shell: Shell,
  kernel: KernelArtifact,
  dir: string,
  cacheDir: string,
  signal: AbortSignal,
): Promise<string | null> {
  const config = await readFile(kernel.config, 'utf8');
  const builtIn = BOOT_DRIVERS.every(({ option }) => config.includes(`${option}=y`));
  if (!kernel.modules) return null;
  const initrd = `${dir}/initrd`;
  if ((await shell.exec(`[ -s ${initrd} ]`, { timeoutMs: 30_000 })).status === 0) return initrd;
  const make = `if command -v mkinitramfs >/dev/null; then mkinitramfs -o ${initrd}.new ${safe(kernel.release)}; elif command -v dracut >/dev/null; then dracut --force ${initrd}.new ${safe(kernel.release)}; else exit 9; fi && mv ${initrd}.new ${initrd} && sync`;
  const made = await shell.exec(make, { timeoutMs: 600_000 });
  if (made.status === 0) return initrd;
  if (made.status !== 9)
    throw new BootError('KD_HOST_SETUP', 'infra', `the host can't make an initrd: ${made.stderr.trim().slice(-300)}`);
  if (builtIn) return null;
  const rootfs = await makeRootfs(cacheDir, [], { signal });
  const files = await makeGuestFiles(cacheDir, kernel, rootfs, signal);
  if (!files.initrd) return null;
  await must(
    shell,
    `cat >${initrd}.new && mv ${initrd}.new ${initrd} && sync`,
    'take the initrd',
    createReadStream(files.initrd),
  );
  return initrd;
}

async function sha256(shell: Shell, file: string): Promise<string> {
  const { stdout } = await shell.exec(`sha256sum ${file} 2>/dev/null`, { timeoutMs: 120_000 });
  return stdout.toString('latin1').split(' ')[0]!;
}

async function must(shell: Shell, command: string, what: string, stdin?: NodeJS.ReadableStream): Promise<void> {
  const { status, stderr } = await shell.exec(command, { stdin, timeoutMs: 600_000 });
  if (status !== 0)
    throw new BootError('KD_HOST_SETUP', 'infra', `the host can't ${what}: ${stderr.trim().slice(-300)}`);
}

/** Names of kernels go into commands: they are what release strings and build keys may be, or nothing. */
function safe(name: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._+~-]*$/.test(name))
    throw new BootError('KD_HOST_SETUP', 'infra', `not a kernel's name: ${name}`);
  return name;
}
