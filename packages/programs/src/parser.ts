import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { homeDir } from '@kdelta/home';
import type { ProgramMeta } from '@kdelta/jobs';
import { ProgramError } from './errors.ts';
import type { Parse } from './parsing.ts';

const loaded = new Map<string, Promise<Parse>>();

/**
 * The program's `parse`, bundled by esbuild into `cacheDir/parsers/<hash of its sources>.mjs` unless it is there already.
 * Throws KD_PROGRAM_PARSER when parse.ts doesn't compile or exports no `parse`; undefined when the folder has no parse.ts.
 */
export async function loadParser(meta: ProgramMeta, cacheDir: string): Promise<Parse | undefined> {
  const source = join(meta.dir, 'parse.ts');
  if (!existsSync(source)) return undefined;
  const library = join(homeDir(), 'packages/programs/src');
  const key = await hashSources([meta.dir, library]);
  const file = join(cacheDir, 'parsers', `${meta.name}-${key}.mjs`);
  let parser = loaded.get(file);
  if (!parser) {
    parser = importParser(source, file);
    loaded.set(file, parser);
    parser.catch(() => loaded.delete(file));
  }
  return parser;
}

async function importParser(source: string, file: string): Promise<Parse> {
  if (!existsSync(file)) await bundle(source, file);
  const module = await import(/* @vite-ignore */ pathToFileURL(file).href).catch((error: Error) => {
    throw new ProgramError('KD_PROGRAM_PARSER', `${source}: ${error.message}`);
  });
  if (typeof module.parse !== 'function')
    throw new ProgramError('KD_PROGRAM_PARSER', `${source}: exports no function parse`);
  return module.parse;
}

async function bundle(source: string, file: string): Promise<void> {
  const { build } = await import('esbuild');
  const result = await build({
    entryPoints: [source],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'silent',
    // A folder outside the checkout has no node_modules to find us in.
    alias: { '@kdelta/programs/parsing': join(homeDir(), 'packages/programs/src/parsing.ts') },
  }).catch((error: Error) => {
    throw new ProgramError('KD_PROGRAM_PARSER', `${source}: ${error.message}`);
  });
  await mkdir(dirname(file), { recursive: true });
  // Several kdeltas may bundle the same parser at once: each writes its own file, the last rename wins.
  const temporary = `${file}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  await writeFile(temporary, result.outputFiles[0]!.contents);
  await rename(temporary, file);
}

async function hashSources(dirs: string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const dir of dirs) {
    for (const name of (await readdir(dir)).sort()) {
      if (!name.endsWith('.ts')) continue;
      hash.update(`${name}\0`);
      hash.update(await readFile(join(dir, name)));
    }
  }
  return hash.digest('hex').slice(0, 16);
}
