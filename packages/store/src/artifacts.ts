import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip, gunzipSync } from 'node:zlib';
import { StoreError } from './errors.ts';

/** Content kept under its sha256 (of the content itself, however it lies on disk). */
export interface Stored {
  sha256: string;
  bytes: number;
}

/** Raw files, logs and archives by content hash; equal content is kept once. */
export interface ArtifactStore {
  put(content: Buffer | string): Promise<Stored>;
  putFile(path: string): Promise<Stored>;
  /** The whole content. Throws KD_ARTIFACT_MISSING. */
  get(sha256: string): Promise<Buffer>;
  /** The content as a stream; `gzip` gives it as it lies there. Throws KD_ARTIFACT_MISSING. */
  stream(sha256: string, as?: 'plain' | 'gzip'): Promise<Readable>;
  has(sha256: string): Promise<boolean>;
}

/** An artifact store in a local folder: `<dir>/ab/<sha256>.gz`. */
export function localArtifacts(dir: string): ArtifactStore {
  const pathOf = (sha256: string) => join(dir, sha256.slice(0, 2), `${checked(sha256)}.gz`);
  const exists = (path: string) =>
    stat(path).then(
      () => true,
      () => false,
    );
  const missing = (sha256: string) =>
    new StoreError('KD_ARTIFACT_MISSING', `${sha256} is not in ${dir}: it was pruned, or another machine keeps it`);

  const putStream = async (source: Readable): Promise<Stored> => {
    await mkdir(dir, { recursive: true });
    const partial = join(dir, `.${randomBytes(8).toString('hex')}.part`);
    const hash = createHash('sha256');
    let bytes = 0;
    const meter = new PassThrough();
    meter.on('data', (chunk: Buffer) => {
      hash.update(chunk);
      bytes += chunk.length;
    });
    try {
      await pipeline(source, meter, createGzip({ level: 6 }), createWriteStream(partial));
      const sha256 = hash.digest('hex');
      const path = pathOf(sha256);
      await mkdir(dirname(path), { recursive: true });
      // The database will say that it is there: it must be so after a crash too.
      const file = await open(partial, 'r');
      await file.sync();
      await file.close();
      await rename(partial, path);
      return { sha256, bytes };
    } finally {
      await rm(partial, { force: true });
    }
  };

  return {
    async put(content) {
      const { Readable } = await import('node:stream');
      const buffer = typeof content === 'string' ? Buffer.from(content) : content;
      return putStream(Readable.from(buffer.length > 0 ? [buffer] : []));
    },
    putFile: (path) => putStream(createReadStream(path)),
    async get(sha256) {
      const packed = await readFile(pathOf(sha256)).catch(() => {
        throw missing(sha256);
      });
      return gunzipSync(packed);
    },
    async stream(sha256, as = 'plain') {
      const path = pathOf(sha256);
      if (!(await exists(path))) throw missing(sha256);
      const file = createReadStream(path);
      return as === 'gzip' ? file : file.pipe(createGunzip());
    },
    has: (sha256) => exists(pathOf(sha256)),
  };
}

function checked(sha256: string): string {
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw new StoreError('KD_ARTIFACT_MISSING', `${sha256} is no sha256`);
  return sha256;
}
