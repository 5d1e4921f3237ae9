// Brings a machine from Node.js and git to what `npm test` and `npm run demo` need. Runs without node_modules.
// Usage: node scripts/setup.mjs test|demo     Exit status: 0 ready, 2 something is missing that it can't install.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Debian package → the program (or file) that it is wanted for; `only` where one of the two commands needs it. */
const wanted = [
  { deb: 'git', program: 'git' },
  { deb: 'qemu-system-x86', program: 'qemu-system-x86_64' },
  { deb: 'qemu-utils', program: 'qemu-img' },
  { deb: 'mmdebstrap', program: 'mmdebstrap' },
  { deb: 'redis-server', program: 'redis-server' },
  { deb: 'bubblewrap', program: 'bwrap' },
  { deb: 'ccache', program: 'ccache' },
  { deb: 'gcc', program: 'gcc' },
  { deb: 'libc6-dev', program: 'the C library for static programs' },
  { deb: 'make', program: 'make' },
  { deb: 'flex', program: 'flex' },
  { deb: 'bison', program: 'bison' },
  { deb: 'bc', program: 'bc' },
  { deb: 'libelf-dev', program: 'libelf (headers)' },
  { deb: 'libssl-dev', program: 'libssl (headers)' },
  { deb: 'kmod', program: 'kmod' },
  { deb: 'cpio', program: 'cpio' },
  { deb: 'lz4', program: 'lz4' },
  { deb: 'zstd', program: 'zstd' },
  { deb: 'xz-utils', program: 'xz' },
  { deb: 'e2fsprogs', program: 'mke2fs' },
  { deb: 'busybox-static', program: 'busybox' },
  { deb: 'rsync', program: 'rsync' },
  { deb: 'openssh-client', program: 'ssh-keygen' },
  { deb: 'openssh-server', program: 'sshd', only: 'test' },
  { deb: 'chromium', program: 'chromium', only: 'test' },
];

/** dpkg's placeholder, not ours. */
const statusFormat = '$' + '{db:Status-Status}';
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const purpose = process.argv[2] ?? 'demo';
if (!['test', 'demo'].includes(purpose)) stop(`KD_USAGE: setup.mjs takes "test" or "demo", not "${purpose}"`);
const [major] = process.versions.node.split('.').map(Number);
if (major < 20) stop(`KD_SETUP_NODE: Node.js 20 or newer is needed, this is ${process.versions.node}`);

const needed = wanted.filter((w) => !w.only || w.only === purpose);
const apt = onPath('apt-get') && onPath('dpkg-query');
if (!apt) {
  stop(
    'KD_SETUP_NO_APT: this set-up installs Debian packages with apt-get, which is not here. Needed programs:\n' +
      needed.map((w) => `  ${w.program}${onPath(w.program) ? '  (found)' : ''}`).join('\n') +
      '\n  a kernel source as /usr/src/linux-source-*.tar.xz',
  );
}

const missing = needed.map((w) => w.deb).filter((deb) => !installed(deb));
const source = kernelSource();
if (source) missing.push(source);
const lock = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .digest('hex');
const stamp = join(root, 'node_modules', '.kdelta-lock');
const npmCi = !existsSync(stamp) || readFileSync(stamp, 'utf8') !== lock;

if (missing.length || npmCi) console.log('kdelta set-up will install:');
if (missing.length)
  console.log(
    `  Debian packages: ${missing.map((m) => (m === 'linux-source' ? 'the newest linux-source-*' : m)).join(' ')}`,
  );
if (npmCi) console.log('  npm packages:    npm ci (into node_modules of this folder)');

if (missing.length) installPackages(missing);
if (npmCi) {
  // Development packages too, whatever NODE_ENV says: esbuild and vitest are among them.
  const ci = spawnSync('npm', ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (ci.status !== 0) stop('KD_SETUP_NPM: npm ci failed (its messages are above); mend that and start again');
  writeFileSync(stamp, lock);
}

/** The source package to build kernels from: '' when one is here, 6.12 on Debian 12, else the newest there is. */
function kernelSource() {
  const here = spawnSync('dpkg-query', ['-W', '-f', `$\{Package} ${statusFormat}\n`, 'linux-source-*'], {
    encoding: 'utf8',
  }).stdout;
  const names = here
    .split('\n')
    .filter((l) => l.endsWith(' installed'))
    .map((l) => l.split(' ')[0]);
  const release = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '';
  const bookworm = /^ID=debian$/m.test(release) && /^VERSION_ID="?12"?$/m.test(release);
  if (bookworm) return names.includes('linux-source-6.12') ? '' : 'linux-source-6.12';
  return names.some((n) => /^linux-source-\d/.test(n)) ? '' : 'linux-source';
}

function installPackages(debs) {
  asRoot(['apt-get', 'update', '-q'], debs);
  const names = debs.map((deb) => (deb === 'linux-source' ? newestSource() : deb));
  asRoot(['apt-get', 'install', '-y', '-q', '--no-install-recommends', ...names], names);
}

/** The linux-source-* package of the highest version that apt offers; needs fresh lists. */
function newestSource() {
  const found = execFileSync('apt-cache', ['pkgnames', 'linux-source-'], { encoding: 'utf8' })
    .split('\n')
    .filter((n) => /^linux-source-\d+\.\d+(\.\d+)?$/.test(n));
  const parts = (n) => n.slice('linux-source-'.length).split('.').map(Number);
  found.sort((a, b) => parts(b)[0] - parts(a)[0] || parts(b)[1] - parts(a)[1]);
  if (!found.length)
    stop("KD_SETUP_NO_SOURCE: apt offers no linux-source-* package; enable the distribution's main archive");
  return found[0];
}

function asRoot(command, debs) {
  const direct = process.getuid?.() === 0;
  if (!direct && !onPath('sudo')) {
    stop(
      `KD_SETUP_NOT_ROOT: neither root nor sudo here; as root run: apt-get install --no-install-recommends ${debs.join(' ')}`,
    );
  }
  // Without a terminal nobody can type a password: sudo must say so at once instead of waiting.
  const sudo = process.stdin.isTTY ? ['sudo'] : ['sudo', '-n'];
  const full = [...(direct ? [] : sudo), 'env', 'DEBIAN_FRONTEND=noninteractive', ...command];
  const run = spawnSync(full[0], full.slice(1), {
    stdio: [process.stdin.isTTY ? 'inherit' : 'ignore', 'inherit', 'inherit'],
  });
  if (run.status !== 0) {
    stop(`KD_SETUP_APT: "${command.join(' ')}" failed (its messages are above); mend that and start again`);
  }
}

function installed(deb) {
  const q = spawnSync('dpkg-query', ['-W', '-f', statusFormat, deb], { encoding: 'utf8' });
  return q.status === 0 && q.stdout.trim() === 'installed';
}

function onPath(program) {
  return [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'].some((dir) => {
    try {
      accessSync(join(dir, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function stop(message) {
  console.error(message);
  process.exit(2);
}
