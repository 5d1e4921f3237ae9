import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HomeError } from './errors.ts';
import type { Command } from './postgres.ts';

/**
 * Writes the private Redis' configuration into `dir` and returns the command that serves it on 127.0.0.1:`port`.
 * BullMQ needs `noeviction`; with the append-only file a killed Redis loses no job (reference: hosts study, 2.6).
 * Throws KD_PROGRAM_MISSING when there is no redis-server.
 */
export function prepareRedis(dir: string, port: number, password: string): Command {
  if (spawnSync('redis-server', ['--version']).status !== 0)
    throw new HomeError(
      'KD_PROGRAM_MISSING',
      'redis-server is not installed: `apt-get install redis-server`, or set REDIS_URL to a Redis of your own',
    );
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const config = join(dir, 'redis.conf');
  // The password is in a file, not among the arguments, which anyone on the machine can read.
  const text = [
    'bind 127.0.0.1',
    `port ${port}`,
    `requirepass ${password}`,
    `dir "${dir}"`,
    'daemonize no',
    'save ""',
    'appendonly yes',
    'appendfsync everysec',
    'maxmemory-policy noeviction',
    'loglevel warning',
    '',
  ].join('\n');
  writeFileSync(config, text, { mode: 0o600 });
  return { argv: ['redis-server', config] };
}
