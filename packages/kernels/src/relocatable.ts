import type { Hash } from 'node:crypto';
import { blank, type ElfSection } from './elf.ts';

const SHT_SYMTAB = 2;
const SHT_RELA = 4;
const SHT_NOBITS = 8;
const SHF_ALLOC = 2n;
const SHF_EXECINSTR = 4n;
const SYMBOL_BYTES = 24;
const RELA_BYTES = 24;

/**
 * Feeds `sum` with what an object before its last link (vmlinux.o) will load: the contents of its SHF_ALLOC sections with `release`
 * blanked, what their relocations point at, and the names of functions, which kallsyms puts into the image. Names of data are left out:
 * initcalls carry the line they stand on in theirs. Returns false when the object can't be read so.
 *
 * The last link can't be hashed instead: the linker merges strings by their tails, so the place of a string "a" depends on whether the
 * release string happens to end with an a.
 */
export function hashRelocatable(file: Buffer, sections: ElfSection[], release: string, sum: Hash): boolean {
  const table = sections.find((section) => section.type === SHT_SYMTAB);
  const names = sections.find((section) => section.name === '.strtab');
  if (!table || !names) return false;
  const symbols = readSymbols(file, table, names);
  if (!symbols) return false;
  const functions: string[] = [];
  for (const symbol of symbols) {
    const home = sections[symbol.section];
    if (home && home.flags & SHF_EXECINSTR && symbol.name !== '')
      functions.push(`${symbol.name} ${symbol.section} ${symbol.value}`);
  }
  sum.update(functions.sort().join('\n'));
  for (const [index, section] of sections.entries()) {
    if (section.flags & SHF_ALLOC) {
      sum.update(`${index} ${section.name} ${section.flags} ${section.size}\n`);
      if (section.type === SHT_NOBITS) continue;
      const contents = Buffer.from(file.subarray(section.offset, section.offset + section.size));
      blank(contents, release);
      sum.update(contents);
    } else if (
      section.type === SHT_RELA &&
      sections.some((other) => other.flags & SHF_ALLOC && section.name === `.rela${other.name}`)
    ) {
      const relocations = readRelocations(file, section, symbols);
      if (!relocations) return false;
      sum.update(`${section.name}\n`).update(relocations);
    }
  }
  return true;
}

interface ElfSymbol {
  name: string;
  section: number;
  value: bigint;
}

/** Indexes of sections above this are marks: absolute, common, or "look elsewhere". */
const SHN_LORESERVE = 0xff00;
const SHN_XINDEX = 0xffff;

function readSymbols(file: Buffer, table: ElfSection, names: ElfSection): ElfSymbol[] | null {
  const symbols: ElfSymbol[] = [];
  for (let at = table.offset; at + SYMBOL_BYTES <= table.offset + table.size; at += SYMBOL_BYTES) {
    const section = file.readUInt16LE(at + 6);
    if (section === SHN_XINDEX) return null;
    const start = names.offset + file.readUInt32LE(at);
    const end = file.indexOf(0, start);
    symbols.push({
      name: end < 0 ? '' : file.toString('latin1', start, end),
      section,
      value: file.readBigUInt64LE(at + 8),
    });
  }
  return symbols;
}

/** Each relocation as place, type, what it means (section and value, or the name of something elsewhere) and addend. */
function readRelocations(file: Buffer, section: ElfSection, symbols: ElfSymbol[]): Buffer | null {
  const count = Math.floor(section.size / RELA_BYTES);
  const out = Buffer.alloc(count * 32);
  const elsewhere: string[] = [];
  for (let i = 0; i < count; i++) {
    const at = section.offset + i * RELA_BYTES;
    const symbol = symbols[file.readUInt32LE(at + 12)];
    if (!symbol) return null;
    file.copy(out, i * 32, at, at + 8);
    out.writeUInt32LE(file.readUInt32LE(at + 8), i * 32 + 8);
    out.writeUInt32LE(symbol.section, i * 32 + 12);
    out.writeBigUInt64LE(symbol.value, i * 32 + 16);
    file.copy(out, i * 32 + 24, at + 16, at + 24);
    if (symbol.section === 0 || symbol.section >= SHN_LORESERVE) elsewhere.push(symbol.name);
  }
  return Buffer.concat([out, Buffer.from(elsewhere.join('\n'), 'latin1')]);
}
