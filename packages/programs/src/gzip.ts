import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { OutputTooLargeError } from './parsing.ts';

const MAX_BYTES = 2 ** 32;

/**
 * Hands `use` the unpacked content of a gzipped file as a file of its own, as parsers read their lines synchronously.
 * Throws KD_OUTPUT_TOO_LARGE beyond 4 GiB, and zlib's error for a file that is cut or is none.
 */
export async function unzipped<T>(file: string, use: (plain: string) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), 'kdelta-gzip-'));
  try {
    const plain = join(dir, 'raw');
    let bytes = 0;
    const limited = new Transform({
      transform(chunk: Buffer, _, done) {
        bytes += chunk.length;
        done(bytes > MAX_BYTES ? new OutputTooLargeError() : null, chunk);
      },
    });
    await pipeline(createReadStream(file), createGunzip(), limited, createWriteStream(plain));
    return await use(plain);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
