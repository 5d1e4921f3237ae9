import type { HostFile } from '@kdelta/jobs';
import { BootError } from './errors.ts';
import type { Shell } from './types.ts';

/**
 * Sees to it that a machine has the Debian packages without which the testcase can't run, before it is booted for it. What its
 * file says of `packages` decides: `check` names those that are missing, `install` installs them, `trust` asks nothing. A
 * program of a package's name, built by hand, will do for the package; a machine without dpkg isn't asked.
 * Throws BootError KD_HOST_PACKAGES in one line.
 */
export async function readyPackages(shell: Shell, host: HostFile, packages: string[]): Promise<void> {
  if (host.packages === 'trust' || packages.length === 0) return;
  for (const name of packages)
    if (!/^[a-z0-9][a-z0-9+.-]+$/.test(name)) throw new Error(`${JSON.stringify(name)} is no name of a Debian package`);
  const missing = await missingPackages(shell, packages);
  if (missing.length === 0) return;
  const command = `apt-get install -y --no-install-recommends ${missing.join(' ')}`;
  if (host.packages !== 'install')
    throw new BootError(
      'KD_HOST_PACKAGES',
      'infra',
      `${host.name} lacks ${missing.join(', ')}: run \`${command}\` there, or say \`packages: install\` in ${host.file}`,
    );
  const { status, stderr } = await shell.exec(`DEBIAN_FRONTEND=noninteractive ${command} </dev/null >/dev/null`, {
    timeoutMs: 900_000,
  });
  if (status !== 0)
    throw new BootError(
      'KD_HOST_PACKAGES',
      'infra',
      `${host.name} can't install ${missing.join(', ')}: ${stderr.trim().split('\n').at(-1)?.slice(0, 300) || `status ${status}`}`,
    );
}

async function missingPackages(shell: Shell, packages: string[]): Promise<string[]> {
  const { stdout } = await shell.exec(
    `PATH=$PATH:/usr/sbin:/sbin; command -v dpkg-query >/dev/null || exit 0
    for p in ${packages.join(' ')}; do
      case $(dpkg-query -W -f='\${db:Status-Status}' "$p" 2>/dev/null) in installed) continue ;; esac
      command -v "$p" >/dev/null || echo "$p"
    done`,
    { timeoutMs: 60_000 },
  );
  return stdout.toString().trim().split('\n').filter(Boolean);
}
