import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = process.env.KDELTA_SHARED ?? fileURLToPath(new URL('../../../../shared', import.meta.url));

/** A file of the shared vectors as JSON; null (and a message) without them. */
export function sharedJson<T>(path: string): T | null {
  const file = `${root}/${path}`;
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as T;
  console.warn(`skipped: no ${file} (KDELTA_SHARED names the folder of shared vectors)`);
  return null;
}
