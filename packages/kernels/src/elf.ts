import { createHash } from 'node:crypto';

/** One section of a 64-bit little-endian ELF file. */
export interface ElfSection {
  name: string;
  type: number;
  flags: bigint;
  address: bigint;
  offset: number;
  size: number;
}

const SHT_NOBITS = 8;
const SHT_NOTE = 7;
const SHF_ALLOC = 2n;

/** The sections of `file`; null when it isn't an ELF file of that kind or is cut short. The file may be hostile. */
export function readSections(file: Buffer): ElfSection[] | null {
  try {
    if (file.length < 64 || file.readUInt32BE(0) !== 0x7f454c46 || file[4] !== 2 || file[5] !== 1) return null;
    const table = Number(file.readBigUInt64LE(0x28));
    const entrySize = file.readUInt16LE(0x3a);
    const count = file.readUInt16LE(0x3c);
    const namesIndex = file.readUInt16LE(0x3e);
    if (entrySize < 64 || count === 0) return null;
    const raw = Array.from({ length: count }, (_, i) => {
      const at = table + i * entrySize;
      return {
        nameAt: file.readUInt32LE(at),
        type: file.readUInt32LE(at + 4),
        flags: file.readBigUInt64LE(at + 8),
        address: file.readBigUInt64LE(at + 16),
        offset: Number(file.readBigUInt64LE(at + 24)),
        size: Number(file.readBigUInt64LE(at + 32)),
      };
    });
    const names = raw[namesIndex];
    if (!names) return null;
    return raw.map(({ nameAt, ...section }) => {
      if (section.type !== SHT_NOBITS && section.offset + section.size > file.length) throw new RangeError('cut short');
      const start = names.offset + nameAt;
      const end = file.indexOf(0, start);
      return { name: file.toString('latin1', start, end < 0 ? start : end), ...section };
    });
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** The GNU build id (40 hex digits for sha1) in the note sections, where there is one. */
export function readBuildId(file: Buffer, sections: ElfSection[]): string | null {
  for (const section of sections) {
    if (section.type !== SHT_NOTE) continue;
    const id = buildIdIn(file.subarray(section.offset, section.offset + section.size));
    if (id) return file.toString('hex', section.offset + id.start, section.offset + id.end);
  }
  return null;
}

/**
 * SHA-256 over what gets loaded (sections with SHF_ALLOC: name, address, size, contents), with every occurrence of `release` and
 * the build id blanked. Equal hashes: the same code and data, whatever the two builds were called. `sum` may have
 * been fed with more that belongs to the kernel.
 */
export function hashLoaded(file: Buffer, sections: ElfSection[], release: string, sum = createHash('sha256')): string {
  for (const section of sections) {
    if (!(section.flags & SHF_ALLOC)) continue;
    sum.update(`${section.name} ${section.address.toString(16)} ${section.size}\n`);
    if (section.type === SHT_NOBITS) continue;
    const contents = Buffer.from(file.subarray(section.offset, section.offset + section.size));
    if (release !== '') blank(contents, release);
    if (section.type === SHT_NOTE) {
      const id = buildIdIn(contents);
      if (id) contents.fill(0, id.start, id.end);
    }
    sum.update(contents);
  }
  return sum.digest('hex');
}

/** Overwrites each occurrence of `text` with zeros. */
export function blank(contents: Buffer, text: string): void {
  const needle = Buffer.from(text, 'latin1');
  for (let at = contents.indexOf(needle); at >= 0; at = contents.indexOf(needle, at + needle.length)) {
    contents.fill(0, at, at + needle.length);
  }
}

function buildIdIn(notes: Buffer): { start: number; end: number } | null {
  let at = 0;
  while (at + 12 <= notes.length) {
    const nameSize = notes.readUInt32LE(at);
    const size = notes.readUInt32LE(at + 4);
    const type = notes.readUInt32LE(at + 8);
    const start = at + 12 + Math.ceil(nameSize / 4) * 4;
    if (start + size > notes.length) return null;
    if (type === 3 && notes.toString('latin1', at + 12, at + 15) === 'GNU') return { start, end: start + size };
    at = start + Math.ceil(size / 4) * 4;
  }
  return null;
}
