import { createHash } from 'node:crypto';
import { access, constants, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { release } from 'node:os';
import { join } from 'node:path';

export interface KvmProbe {
  works: boolean;
  /** Why not. */
  why: string;
}

/**
 * What an earlier real boot with KVM on this machine told; null when none was tried yet. There are machines with a
 * /dev/kvm that cannot boot a stock kernel, so its presence says little; its absence says all.
 */
export async function knownKvm(cacheDir: string): Promise<KvmProbe | null> {
  const usable = await access('/dev/kvm', constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  );
  if (!usable) return { works: false, why: 'no access to /dev/kvm' };
  const text = await readFile(await probeFile(cacheDir), 'utf8').catch(() => null);
  return text === null ? null : (JSON.parse(text) as KvmProbe);
}

export async function rememberKvm(cacheDir: string, probe: KvmProbe): Promise<void> {
  const file = await probeFile(cacheDir);
  await mkdir(join(cacheDir, 'kvm'), { recursive: true });
  await writeFile(`${file}.new`, JSON.stringify(probe));
  await rename(`${file}.new`, file);
}

/** One answer per processor and running kernel. */
async function probeFile(cacheDir: string): Promise<string> {
  const cpu = /^model name.*$/m.exec(await readFile('/proc/cpuinfo', 'utf8').catch(() => ''))?.[0] ?? '';
  return join(cacheDir, 'kvm', createHash('sha256').update(`${cpu}\n${release()}`).digest('hex').slice(0, 12));
}
