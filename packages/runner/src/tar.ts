export interface TarFile {
  name: string;
  content: Buffer;
  executable?: boolean;
}

const BLOCK = 512;

/** A ustar archive (POSIX.1-1988) of plain files; names of at most 100 bytes, owner root, time 0. */
export function writeTar(files: TarFile[]): Buffer {
  const parts: Buffer[] = [];
  for (const { name, content, executable } of files) {
    if (Buffer.byteLength(name) > 100) throw new Error(`name too long for an archive: ${name}`);
    const header = Buffer.alloc(BLOCK);
    const field = (text: string, offset: number) => header.write(text, offset, 'utf8');
    const octal = (value: number, width: number, offset: number) =>
      field(`${value.toString(8).padStart(width - 1, '0')}\0`, offset);
    field(name, 0);
    octal(executable ? 0o755 : 0o644, 8, 100);
    octal(0, 8, 108);
    octal(0, 8, 116);
    octal(content.length, 12, 124);
    octal(0, 12, 136);
    field('        0', 148);
    field('ustar\x0000', 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    field(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    parts.push(header, content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK));
  }
  parts.push(Buffer.alloc(2 * BLOCK));
  return Buffer.concat(parts);
}

/**
 * The plain files of an archive that a host made. The host ran strangers' code: folders are skipped, anything else that
 * isn't a plain file, and a name with `..`, an absolute one or one of odd characters, makes it throw.
 */
export function readTar(archive: Buffer): TarFile[] {
  const files: TarFile[] = [];
  let at = 0;
  while (at + BLOCK <= archive.length && archive[at] !== 0) {
    const text = (offset: number, length: number) =>
      archive.toString('utf8', at + offset, at + offset + length).replace(/\0[\s\S]*$/, '');
    const name = text(0, 100).replace(/^\.\//, '');
    const size = Number.parseInt(text(124, 12).trim() || '0', 8);
    const type = text(156, 1);
    if (!Number.isSafeInteger(size) || size < 0 || at + BLOCK + size > archive.length)
      throw new Error(`the archive is cut short at ${JSON.stringify(name)}`);
    if (type === '' || type === '0') {
      if (!/^[A-Za-z0-9_+][A-Za-z0-9._+-]*(\/[A-Za-z0-9_+][A-Za-z0-9._+-]*)*$/.test(name))
        throw new Error(`the archive holds a file of odd name: ${JSON.stringify(name)}`);
      files.push({ name, content: archive.subarray(at + BLOCK, at + BLOCK + size) });
    } else if (type !== '5')
      throw new Error(`the archive holds something that is no plain file: ${JSON.stringify(name)}`);
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}
