import { createWriteStream } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type ClientChannel, type ConnectConfig } from 'ssh2';
import { ShellError } from './errors.ts';
import type { Shell } from './types.ts';

export interface ShellTarget {
  host: string;
  port: number;
  user: string;
  /** OpenSSH private key. */
  privateKey: string;
  /** The one key that the host may show: `ssh-ed25519 AAAA…`. */
  hostKey: string;
  connectTimeoutMs?: number;
  /** A lost connection is tried again for so long before a command fails. */
  reconnectMs?: number;
  keepaliveMs?: number;
  /** Called when an open connection is lost, not when it is closed. */
  onLost?: () => void;
}

/**
 * Opens one SSH connection that all commands share: under emulation a handshake costs half a second of the guest's CPU.
 * No agent, no X11, no password; a host key that differs from the pinned one ends it with KD_SSH_KEY. Rejects with
 * ShellError when no connection is had at the first try.
 */
export async function openShell(target: ShellTarget): Promise<Shell> {
  const shell = new SshShell(target);
  await shell.connect();
  return shell;
}

const DEFAULT_MAX_BYTES = 16 * 2 ** 20;

class SshShell implements Shell {
  private client: Client | null = null;
  private connecting: Promise<Client> | null = null;
  private closed = false;

  constructor(private readonly target: ShellTarget) {}

  async exec(command: string, options: Parameters<Shell['exec']>[1] = {}): ReturnType<Shell['exec']> {
    const chunks: Buffer[] = [];
    const { status, stderr } = await this.run(command, options, (chunk) => {
      if (options.onStdout) options.onStdout(chunk);
      else chunks.push(chunk);
    });
    return { status, stdout: Buffer.concat(chunks), stderr };
  }

  async download(command: string, toFile: string, options: Parameters<Shell['download']>[2] = {}): Promise<void> {
    const file = createWriteStream(toFile);
    const finished = new Promise<void>((resolve, reject) => {
      file.on('close', resolve);
      file.on('error', reject);
    });
    try {
      const { status, stderr } = await this.run(
        command,
        { ...options, maxBytes: options.maxBytes ?? 2 ** 30 },
        (chunk, channel) => {
          if (file.write(chunk)) return;
          channel.pause();
          file.once('drain', () => channel.resume());
        },
      );
      if (status !== 0)
        throw new ShellError('KD_SSH_LOST', `\`${command}\` ended with status ${status}: ${stderr.trim()}`);
    } finally {
      file.end();
      await finished;
    }
  }

  close(): void {
    this.closed = true;
    this.client?.end();
    this.client?.destroy();
    this.client = null;
  }

  async connect(): Promise<Client> {
    if (this.closed) throw new ShellError('KD_SSH_CLOSED', 'the connection was closed');
    if (this.client) return this.client;
    this.connecting ??= this.dial().finally(() => {
      this.connecting = null;
    });
    return await this.connecting;
  }

  /** A connection, tried again for `reconnectMs`. */
  private async reconnect(): Promise<Client> {
    const until = Date.now() + (this.target.reconnectMs ?? 30_000);
    for (;;) {
      try {
        return await this.connect();
      } catch (error) {
        const fatal = error instanceof ShellError && (error.code === 'KD_SSH_KEY' || error.code === 'KD_SSH_CLOSED');
        if (fatal || Date.now() > until) throw error;
        await sleep(500);
      }
    }
  }

  private dial(): Promise<Client> {
    const { target } = this;
    const client = new Client();
    const keyType = target.hostKey.split(' ')[0]!;
    let wrongKey = false;
    const config: ConnectConfig = {
      host: target.host,
      port: target.port,
      username: target.user,
      privateKey: target.privateKey,
      readyTimeout: target.connectTimeoutMs ?? 30_000,
      keepaliveInterval: target.keepaliveMs ?? 15_000,
      keepaliveCountMax: 4,
      agentForward: false,
      hostVerifier: (key: Buffer) => {
        wrongKey = key.toString('base64') !== target.hostKey.split(' ')[1];
        return !wrongKey;
      },
      // In the order of their cost under emulation, as measured.
      algorithms: {
        kex: ['curve25519-sha256', 'ecdh-sha2-nistp256', 'diffie-hellman-group14-sha256'],
        cipher: ['aes128-gcm@openssh.com', 'aes128-ctr', 'chacha20-poly1305@openssh.com', 'aes256-ctr'],
        serverHostKey: (keyType === 'ssh-rsa' ? ['rsa-sha2-512', 'rsa-sha2-256'] : [keyType]) as never,
        compress: ['none'],
      },
    };
    return new Promise((resolve, reject) => {
      let settled = false;
      const lost = (error?: Error) => {
        if (this.client === client) {
          this.client = null;
          if (!this.closed) target.onLost?.();
        }
        client.destroy();
        if (settled) return;
        settled = true;
        const where = `${target.user}@${target.host}:${target.port}`;
        if (wrongKey)
          reject(
            new ShellError(
              'KD_SSH_KEY',
              `${where} shows another host key than the pinned one; is it the machine you mean?`,
            ),
          );
        else reject(new ShellError('KD_SSH_REFUSED', `${where}: ${error?.message ?? 'closed before login'}`));
      };
      client.on('ready', () => {
        settled = true;
        client.setNoDelay(true);
        this.client = client;
        resolve(client);
      });
      client.on('error', lost);
      client.on('close', () => lost());
      client.connect(config);
    });
  }

  private async run(
    command: string,
    options: NonNullable<Parameters<Shell['exec']>[1]>,
    onData: (chunk: Buffer, channel: ClientChannel) => void,
  ): Promise<{ status: number; stderr: string }> {
    const client = await this.reconnect();
    const maxBytes = options.maxBytes ?? DEFAULT_MAX_BYTES;
    return await new Promise((resolve, reject) => {
      let status: number | null = null;
      let failure: ShellError | null = null;
      let bytes = 0;
      let stderr = '';
      let timer: NodeJS.Timeout | undefined;
      let settled = false;
      const settle = () => {
        if (settled) return;
        settled = true;
        clearTimeout(timer);
        client.off('close', settle);
        if (failure) reject(failure);
        else if (status === null) reject(new ShellError('KD_SSH_LOST', 'the connection was lost while a command ran'));
        else resolve({ status, stderr });
      };
      client.on('close', settle);
      client.exec(command, (error, channel) => {
        if (error) {
          failure = new ShellError('KD_SSH_LOST', `no channel: ${error.message}`);
          return settle();
        }
        const stop = (reason: ShellError) => {
          failure ??= reason;
          channel.close();
          settle();
        };
        options.signal?.addEventListener(
          'abort',
          () => stop(new ShellError('KD_SSH_CLOSED', 'the command was dropped')),
          {
            once: true,
          },
        );
        if (options.timeoutMs !== undefined)
          timer = setTimeout(
            () => stop(new ShellError('KD_SSH_TIMEOUT', `a command took longer than ${options.timeoutMs} ms`)),
            options.timeoutMs,
          );
        channel.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > maxBytes) stop(new ShellError('KD_SSH_TOO_MUCH', `a command wrote more than ${maxBytes} bytes`));
          else if (!failure) onData(chunk, channel);
        });
        channel.stderr.on('data', (chunk: Buffer) => {
          if (stderr.length < 64 * 1024) stderr += chunk.toString('utf8');
        });
        channel.on('exit', (code: number | null) => {
          status = code ?? 255;
        });
        channel.on('close', settle);
        channel.on('error', () => {});
        const { stdin } = options;
        if (stdin === undefined || Buffer.isBuffer(stdin)) channel.end(stdin);
        else stdin.pipe(channel);
      });
    });
  }
}

/** The host key that a machine shows, as a public key line, for the person who is to pin it. */
export async function showHostKey(host: string, port: number): Promise<string> {
  return await new Promise((resolve, reject) => {
    const client = new Client();
    client.on('error', (error) => reject(new ShellError('KD_SSH_REFUSED', `${host}:${port}: ${error.message}`)));
    client.connect({
      host,
      port,
      username: 'root',
      password: '',
      readyTimeout: 15_000,
      algorithms: { serverHostKey: ['ssh-ed25519', 'ecdsa-sha2-nistp256', 'rsa-sha2-512'] },
      hostVerifier: (key: Buffer) => {
        const type = key.toString('latin1', 4, 4 + key.readUInt32BE(0));
        resolve(`${type} ${key.toString('base64')}`);
        return false;
      },
    });
  });
}
