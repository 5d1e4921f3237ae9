import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { homeDir } from '@kdelta/home';
import { readKeyValues } from '../src/foreign.ts';
import { linesOf, loadParser, readMeta, type Samples } from '../src/index.ts';

/** Raw outputs with their expected numbers, which are not part of the repository. */
export const vectorDir = join(process.env.KDELTA_SHARED ?? join(homeDir(), '../shared'), 'vectors/lkp-stats');
export const hasVectors = existsSync(vectorDir);

export interface Vector {
  program: string;
  name: string;
  raw: Buffer;
  expected: Samples;
}

/** All pairs of a raw file and the `.yaml` of `key: number` lines beside it. */
export function readVectors(): Vector[] {
  if (!hasVectors) return [];
  const vectors: Vector[] = [];
  for (const entry of readdirSync(vectorDir, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const dir = join(vectorDir, entry.name);
    for (const file of readdirSync(dir).filter((name) => name.endsWith('.yaml'))) {
      const name = file.slice(0, -'.yaml'.length);
      const expected = readKeyValues(`${readFileSync(join(dir, file), 'utf8')}\n`);
      vectors.push({ program: entry.name, name, raw: readFileSync(join(dir, name)), expected });
    }
  }
  return vectors;
}

/** Samples of `raw`, without the program's prefix. */
export async function parseWith(program: string, raw: Buffer | string, cacheDir: string): Promise<Samples> {
  const meta = await readMeta(join(homeDir(), 'programs', program));
  const parse = meta && (await loadParser(meta, cacheDir));
  if (!parse) throw new Error(`programs/${program} has no parser`);
  const { lines, context } = linesOf(raw);
  return parse(lines, context);
}
