import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The checkout that this code runs from: programs/, jobs/, hosts/, kconfig/ and migrations/ lie in it. Found by walking
 * up to the package.json named `kdelta`, so it is the same from the sources and from dist/.
 */
export function homeDir(): string {
  let dir = dirname(fileURLToPath(import.meta.url));
  for (;;) {
    const file = join(dir, 'package.json');
    if (existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).name === 'kdelta') return dir;
    const up = dirname(dir);
    if (up === dir)
      throw new Error('KD_HOME_NOT_FOUND: no package.json named kdelta above the program; run it from a checkout');
    dir = up;
  }
}

/** What belongs to one instance: the private Postgres and Redis, mirrors, running boots. `KDELTA_STATE` or `.kdelta/` of the checkout. */
export function stateDir(env: NodeJS.ProcessEnv = process.env): string {
  return env.KDELTA_STATE ?? join(homeDir(), '.kdelta');
}

/** What is expensive and can be made again, shared by all instances: `$XDG_CACHE_HOME/kdelta`, default `~/.cache/kdelta`. */
export function cacheDir(env: NodeJS.ProcessEnv = process.env): string {
  return join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache'), 'kdelta');
}
