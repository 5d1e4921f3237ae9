import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { ProgramMeta } from '@kdelta/jobs';
import { ProgramError } from './errors.ts';
import { fetchSources, mirrorsOf } from './sources.ts';

const run = promisify(execFile);

/** A file of a program as it must lie on the host, under `<programs>/<program name>/`. */
export interface HostFileOfProgram {
  name: string;
  path: string;
  executable: boolean;
}

/**
 * What of a program goes to the host: its scripts and data, and what `build` makes, compiled once per content with `cc` into
 * `cacheDir/tools`, and the sources it needs with these parameters. Parsers, fixtures, READMEs, meta.yaml and C sources stay behind.
 * Throws KD_PROGRAM_BUILD with the compiler's first error, KD_PROGRAM_SOURCE.
 */
export async function hostFiles(
  meta: ProgramMeta,
  cacheDir: string,
  params: Record<string, string> = {},
  mirrors: string[] = mirrorsOf(process.env),
): Promise<HostFileOfProgram[]> {
  const entries = await readdir(meta.dir, { withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && !/^(parse|meta\.yaml|README\.md|.*\.(ts|c|h))$/.test(entry.name))
    .map(({ name }) => ({ name, path: join(meta.dir, name), executable: /^(run|monitor|setup)$/.test(name) }));
  const built = await compile(meta, cacheDir);
  const sources = (await fetchSources(meta, params, cacheDir, mirrors)).map((file) => ({ ...file, executable: false }));
  return [...files, ...built, ...sources].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Hash over all that decides what the program does on the host, for the testcase's versions: 12 hex digits. */
export async function programVersion(meta: ProgramMeta): Promise<string> {
  const hash = createHash('sha256');
  for (const name of (await readdir(meta.dir)).sort()) {
    if (/^(parse|README\.md|.*\.ts|fixtures|test)$/.test(name)) continue;
    hash.update(`${name}\0`).update(await readFile(join(meta.dir, name)));
  }
  return hash.digest('hex').slice(0, 12);
}

async function compile(meta: ProgramMeta, cacheDir: string): Promise<HostFileOfProgram[]> {
  const outputs = Object.entries(meta.build ?? {});
  if (outputs.length === 0) return [];
  const dir = join(cacheDir, 'tools', `${meta.name}-${await programVersion(meta)}`);
  if (!existsSync(dir)) await compileInto(meta, outputs, dir);
  return outputs.map(([name]) => ({ name, path: join(dir, name), executable: true }));
}

async function compileInto(meta: ProgramMeta, outputs: [string, string[]][], dir: string): Promise<void> {
  await mkdir(dirname(dir), { recursive: true });
  const temporary = await mkdtemp(`${dir}.`);
  try {
    for (const [name, args] of outputs) {
      await run('cc', [...args, '-o', join(temporary, name)], { cwd: meta.dir, timeout: 120_000 }).catch((error) => {
        const first = String(error.stderr ?? error.message)
          .split('\n')
          .find((line) => /error|not found|ENOENT/.test(line));
        throw new ProgramError('KD_PROGRAM_BUILD', `${meta.dir}: cc ${args.join(' ')}: ${first ?? error.message}`);
      });
    }
    // Another kdelta may have made the same meanwhile: then its folder stays.
    await rename(temporary, dir).catch((error) => {
      if (!existsSync(dir)) throw error;
    });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}
