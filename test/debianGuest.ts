import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheDir, homeDir } from '@kdelta/home';
import { type HostFile, parseHost } from '@kdelta/jobs';
import { buildKernel, type KernelArtifact } from '@kdelta/kernels';
import { loadPrograms, type Programs } from '@kdelta/programs';

/** What a test on guests begins with: the shipped programs and TCG host, Debian's packaged kernel, and a folder of its own. */
export async function prepareGuests(
  prefix: string,
): Promise<{ dir: string; programs: Programs; tcg: HostFile; kernel: KernelArtifact }> {
  const file = 'hosts/qemu-tcg.yaml';
  return {
    dir: mkdtempSync(join(tmpdir(), prefix)),
    programs: await loadPrograms([join(homeDir(), 'programs')]),
    tcg: parseHost(readFileSync(join(homeDir(), file), 'utf8'), file),
    kernel: await debianKernel('linux-image-6.12-cloud-amd64'),
  };
}

export async function debianKernel(name: string): Promise<KernelArtifact> {
  const outcome = await buildKernel({ kind: 'deb', package: name }, { cacheDir: cacheDir(), kconfigDir: '' });
  if (outcome.kind === 'failed') throw new Error(outcome.message);
  return outcome.artifact;
}
