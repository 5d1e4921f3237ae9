import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import ssh2 from 'ssh2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openShell, type ShellTarget, showHostKey } from '../src/shell.ts';

/* Against a real sshd on a loopback port. */
let dir: string;
let port: number;
let sshd: ChildProcess;
let target: ShellTarget;
const other = ssh2.utils.generateKeyPairSync('ed25519');

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port: free } = server.address() as { port: number };
      server.close(() => resolve(free));
    });
  });
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'kdelta-sshd-'));
  const client = ssh2.utils.generateKeyPairSync('ed25519');
  const host = ssh2.utils.generateKeyPairSync('ed25519');
  writeFileSync(join(dir, 'host_key'), host.private, { mode: 0o600 });
  writeFileSync(join(dir, 'authorized_keys'), `${client.public}\n`);
  port = await freePort();
  writeFileSync(
    join(dir, 'sshd_config'),
    `Port ${port}\nListenAddress 127.0.0.1\nHostKey ${dir}/host_key\nAuthorizedKeysFile ${dir}/authorized_keys\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nUsePAM no\nStrictModes no\nPidFile none\n`,
  );
  if (process.getuid?.() === 0) await import('node:fs').then((fs) => fs.mkdirSync('/run/sshd', { recursive: true }));
  sshd = spawn('/usr/sbin/sshd', ['-D', '-e', '-f', join(dir, 'sshd_config')], { stdio: 'ignore' });
  target = {
    host: '127.0.0.1',
    port,
    user: userInfo().username,
    privateKey: client.private,
    hostKey: host.public,
    reconnectMs: 5_000,
  };
  for (let tries = 0; tries < 50; tries++) {
    try {
      (await openShell(target)).close();
      return;
    } catch {
      await sleep(100);
    }
  }
});

afterAll(() => {
  sshd?.kill();
  rmSync(dir, { recursive: true, force: true });
});

describe('a shell', () => {
  it('gives status, output and errors of a command, and hands it its input', async () => {
    const shell = await openShell(target);
    const result = await shell.exec('cat; echo oops >&2; exit 3', { stdin: Buffer.from('in') });
    expect(result).toMatchObject({ status: 3, stderr: 'oops\n' });
    expect(result.stdout.toString()).toBe('in');
    shell.close();
    await expect(shell.exec('true')).rejects.toMatchObject({ code: 'KD_SSH_CLOSED' });
  });

  it('refuses a machine that shows another key than the pinned one', async () => {
    await expect(openShell({ ...target, hostKey: other.public })).rejects.toMatchObject({ code: 'KD_SSH_KEY' });
    expect((await showHostKey('127.0.0.1', port)).split(' ')[1]).toBe(target.hostKey.split(' ')[1]);
  });

  it('refuses to log in with a key that the machine doesn’t know', async () => {
    await expect(openShell({ ...target, privateKey: other.private })).rejects.toMatchObject({ code: 'KD_SSH_REFUSED' });
  });

  it('ends a command that writes more than it may, or takes longer', async () => {
    const shell = await openShell(target);
    await expect(shell.exec('yes', { maxBytes: 1e6 })).rejects.toMatchObject({ code: 'KD_SSH_TOO_MUCH' });
    await expect(shell.exec('sleep 20', { timeoutMs: 200 })).rejects.toMatchObject({ code: 'KD_SSH_TIMEOUT' });
    expect((await shell.exec('echo still here')).stdout.toString()).toBe('still here\n');
    shell.close();
  });

  it('downloads into a file, byte for byte', async () => {
    const shell = await openShell(target);
    const file = join(dir, 'down');
    await shell.download('head -c 3000000 /dev/zero', file);
    expect(readFileSync(file).equals(Buffer.alloc(3_000_000))).toBe(true);
    await expect(shell.download('echo half; exit 1', file)).rejects.toThrow(/status 1/);
    await expect(shell.download('cat /dev/zero', file, { maxBytes: 1e6 })).rejects.toMatchObject({
      code: 'KD_SSH_TOO_MUCH',
    });
    shell.close();
  });

  it('connects again after its connection broke, and says that the running command was lost', async () => {
    let lost = 0;
    const shell = await openShell({ ...target, onLost: () => lost++ });
    // The parent of the session's shell is its sshd.
    await expect(shell.exec('kill -9 $PPID; sleep 5')).rejects.toMatchObject({ code: 'KD_SSH_LOST' });
    expect((await shell.exec('echo back')).stdout.toString()).toBe('back\n');
    expect(lost).toBe(1);
    shell.close();
  });

  it('runs many commands at once over its one connection', async () => {
    const shell = await openShell(target);
    const outputs = await Promise.all([1, 2, 3, 4, 5].map((n) => shell.exec(`sleep 0.1; echo ${n}`)));
    expect(outputs.map((o) => o.stdout.toString().trim())).toEqual(['1', '2', '3', '4', '5']);
    shell.close();
  });
});
