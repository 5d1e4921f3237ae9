export interface CpioEntry {
  path: string;
  mode: 'folder' | 'file' | 'executable';
  content?: Buffer;
}

/** A cpio archive in the `newc` form that the kernel unpacks (kernel Documentation, driver-api/early-userspace/buffer-format). */
export function writeCpio(entries: CpioEntry[]): Buffer {
  const parts: Buffer[] = [];
  let inode = 1;
  const add = (path: string, mode: number, content: Buffer) => {
    const name = Buffer.from(`${path}\0`);
    const fields = [inode++, mode, 0, 0, 1, 0, content.length, 0, 0, 0, 0, name.length, 0];
    const header = Buffer.from(`070701${fields.map((n) => n.toString(16).padStart(8, '0')).join('')}`);
    parts.push(padded(Buffer.concat([header, name])), padded(content));
  };
  for (const { path, mode, content } of entries)
    add(path, { folder: 0o040755, file: 0o100644, executable: 0o100755 }[mode], content ?? Buffer.alloc(0));
  inode = 0;
  add('TRAILER!!!', 0, Buffer.alloc(0));
  return Buffer.concat(parts);
}

function padded(part: Buffer): Buffer {
  const short = (4 - (part.length % 4)) % 4;
  return short === 0 ? part : Buffer.concat([part, Buffer.alloc(short)]);
}
