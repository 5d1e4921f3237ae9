import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ProgramMeta, SourceMeta } from '@kdelta/jobs';
import { ProgramError } from './errors.ts';

const FETCH_MS = 1_800_000;
const MAX_BYTES = 4 * 2 ** 30;

/** Folders or base addresses that are asked before upstream, as KDELTA_MIRROR names them, separated by blanks. */
export function mirrorsOf(env: Record<string, string | undefined>): string[] {
  return (env.KDELTA_MIRROR ?? '').split(/\s+/).filter((word) => word !== '');
}

/**
 * The sources that a program needs with these parameters, as files in `cacheDir/sources/<sha256>`: from the cache, else the
 * mirrors, else upstream. Who doesn't answer is passed over; who gives another content than the checksum says is an error.
 * Throws KD_PROGRAM_SOURCE with each address and what it said.
 */
export async function fetchSources(
  meta: ProgramMeta,
  params: Record<string, string>,
  cacheDir: string,
  mirrors: string[],
): Promise<{ name: string; path: string }[]> {
  const files: { name: string; path: string }[] = [];
  for (const [name, source] of Object.entries(meta.sources ?? {})) {
    if (source.param && params[source.param] !== name) continue;
    files.push({ name, path: await fetchSource(meta.name, name, source, cacheDir, mirrors) });
  }
  return files;
}

async function fetchSource(
  program: string,
  name: string,
  source: SourceMeta,
  cacheDir: string,
  mirrors: string[],
): Promise<string> {
  const dir = join(cacheDir, 'sources', source.sha256);
  const kept = join(dir, name);
  if (existsSync(kept)) return kept;
  await mkdir(dir, { recursive: true });
  const temporary = await mkdtemp(join(dir, '.'));
  const said: string[] = [];
  try {
    const file = join(temporary, name);
    for (const address of [...mirrors.map((mirror) => `${mirror.replace(/\/+$/, '')}/${name}`), ...source.urls]) {
      const sha256 = await copyFrom(address, file).catch((error: Error) => {
        said.push(`${address}: ${reason(error)}`);
        return null;
      });
      if (sha256 === null) continue;
      if (sha256 !== source.sha256)
        throw new ProgramError(
          'KD_PROGRAM_SOURCE',
          `${program}: ${address} isn't the file that meta.yaml means: SHA-256 ${sha256}, not ${source.sha256}`,
        );
      await rename(file, kept);
      return kept;
    }
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  throw new ProgramError(
    'KD_PROGRAM_SOURCE',
    `${program}: nobody has ${name}; put it into a folder and name that in KDELTA_MIRROR (${said.join('; ')})`,
  );
}

/** Copies a file or an address's content to `file`, and returns its SHA-256. */
async function copyFrom(address: string, file: string): Promise<string> {
  const hash = createHash('sha256');
  let bytes = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk);
      bytes += chunk.length;
      done(bytes > MAX_BYTES ? new Error('is larger than 4 GiB') : null, chunk);
    },
  });
  await pipeline(await openAddress(address), counted, createWriteStream(file));
  return hash.digest('hex');
}

async function openAddress(address: string): Promise<Readable> {
  if (!/^https?:/.test(address)) return createReadStream(address);
  const response = await fetch(address, { signal: AbortSignal.timeout(FETCH_MS) });
  if (!response.ok || !response.body) throw new Error(`HTTP ${response.status}`);
  return Readable.fromWeb(response.body as never);
}

const reason = (error: Error): string => (error.cause instanceof Error ? error.cause.message : error.message);
