import { statfs, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type HostFile, scratchSerial } from '@kdelta/jobs';
import { BootError } from './errors.ts';

/**
 * A blank disk of the host file's size in a boot's folder, sparse. A full file system would stop the guest in the midst of
 * a write, so one without that much room is refused before the boot.
 * Throws BootError KD_HOST_SETUP.
 */
export async function makeScratchDisk(host: HostFile, dir: string): Promise<{ file: string; serial: string }> {
  const disk = host.scratchDisk;
  if (!disk || 'device' in disk)
    throw new BootError('KD_HOST_SETUP', 'infra', `${host.file} names no size for scratch_disk, and the job needs one`);
  const { bavail, bsize } = await statfs(dir);
  if (bavail * bsize < disk.bytes)
    throw new BootError(
      'KD_HOST_SETUP',
      'infra',
      `no room for the guest's scratch disk: ${dir} has ${Math.floor((bavail * bsize) / 2 ** 20)} MiB, the disk may grow to ${disk.bytes / 2 ** 20}`,
    );
  const file = join(dir, 'scratch.img');
  await writeFile(file, '');
  await truncate(file, disk.bytes);
  return { file, serial: scratchSerial(disk.bytes) };
}
