import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * What `one` gives for the seeds 0 … n−1, as plain data. Kept on disk every 20 seconds, so that a bench that was stopped goes on where it was.
 * Results of other code aren't read: the folder is named after what the search and the simulation say in source.
 */
export function kept<T>(name: string, seeds: number, one: (seed: number) => T): T[] {
  const file = join(folder(), `${name.replaceAll(/[^\w.]+/g, '-')}.json`);
  const found: T[] = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
  let saved = Date.now();
  for (let seed = found.length; seed < seeds; seed++) {
    found.push(one(seed));
    if (seed < seeds - 1 && Date.now() - saved < 20_000) continue;
    writeFileSync(`${file}.new`, JSON.stringify(found));
    renameSync(`${file}.new`, file);
    saved = Date.now();
  }
  return found.slice(0, seeds);
}

let named: string | null = null;

function folder(): string {
  if (named !== null) return named;
  const hash = createHash('sha256');
  for (const from of ['packages/bisect/src', 'bench/bisect'])
    for (const file of readdirSync(from).sort())
      if (!['render.ts', 'kernels.ts', 'kept.ts'].includes(file))
        hash.update(file).update(readFileSync(join(from, file)));
  named = join('bench', 'results', `bisect-${hash.digest('hex').slice(0, 8)}`);
  mkdirSync(named, { recursive: true });
  return named;
}
