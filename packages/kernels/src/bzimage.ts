import { spawn } from 'node:child_process';
import { hashLoaded, readBuildId, readSections } from './elf.ts';

/** The formats of a bzImage's payload by their first bytes, and who unpacks them. */
const PACKERS: [magic: string, program: string, args: string[]][] = [
  ['1f8b', 'gzip', ['-dc']],
  ['28b52ffd', 'zstd', ['-dc']],
  ['fd377a585a', 'xz', ['-dc']],
  ['02214c18', 'lz4', ['-dc']],
  ['425a68', 'bzip2', ['-dc']],
];

export interface BzImageFacts {
  buildId: string;
  loadHash: string;
  /** `uname -r`, from the boot header. */
  release: string;
}

/**
 * What the kernel inside a bzImage is (Documentation/arch/x86/boot.rst: `HdrS` at 0x202, kernel_version at 0x20e,
 * setup_sects at 0x1f1, payload_offset and payload_length at 0x248). Null when it is no bzImage or its unpacker isn't installed.
 */
export async function readBzImage(image: Buffer, signal?: AbortSignal): Promise<BzImageFacts | null> {
  if (image.length < 0x250 || image.toString('latin1', 0x202, 0x206) !== 'HdrS') return null;
  const versionAt = image.readUInt16LE(0x20e) + 0x200;
  const release = image.toString('latin1', versionAt, image.indexOf(0, versionAt)).split(' ')[0]!;
  const setupBytes = ((image[0x1f1] || 4) + 1) * 512;
  const start = setupBytes + image.readUInt32LE(0x248);
  // The last four bytes are the unpacked size, appended by the kernel's makefiles.
  const payload = image.subarray(start, start + image.readUInt32LE(0x24c) - 4);
  const packer = PACKERS.find(([magic]) => payload.toString('hex', 0, magic.length / 2) === magic);
  if (!packer) return null;
  const vmlinux = await filter(packer[1], packer[2], payload, signal);
  const sections = vmlinux && readSections(vmlinux);
  if (!sections) return null;
  const buildId = readBuildId(vmlinux, sections);
  return buildId ? { buildId, loadHash: hashLoaded(vmlinux, sections, release), release } : null;
}

async function filter(program: string, args: string[], input: Buffer, signal?: AbortSignal): Promise<Buffer | null> {
  return await new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'], signal });
    const chunks: Buffer[] = [];
    child.on('error', (error) => (error.name === 'AbortError' ? reject(error) : resolve(null)));
    child.stdin.on('error', () => {});
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('close', () => resolve(chunks.length > 0 ? Buffer.concat(chunks) : null));
    child.stdin.end(input);
  });
}
