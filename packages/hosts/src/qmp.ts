import { closeSync, openSync } from 'node:fs';
import { createConnection } from 'node:net';

/**
 * One command over QEMU's monitor (docs/interop/qmp-spec): its `return`. The socket is reached through the folder's
 * descriptor, as socket names end at 108 bytes and folders don't. Rejects when QEMU is gone or says `error`.
 */
export async function qmp(
  dir: string,
  command: string,
  args: Record<string, unknown> = {},
  timeoutMs = 10_000,
): Promise<unknown> {
  const fd = openSync(dir, 'r');
  try {
    return await new Promise((resolve, reject) => {
      const socket = createConnection({ path: `/proc/self/fd/${fd}/qmp.sock` });
      const timer = setTimeout(() => socket.destroy(new Error(`QEMU doesn't answer ${command}`)), timeoutMs);
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString('utf8');
        const lines = text.split('\n');
        text = lines.pop()!;
        for (const line of lines) {
          const message = JSON.parse(line) as {
            QMP?: unknown;
            return?: unknown;
            error?: { desc: string };
            id?: string;
          };
          if (message.QMP)
            socket.write(
              `${JSON.stringify({ execute: 'qmp_capabilities' })}${JSON.stringify({ execute: command, arguments: args, id: 'kdelta' })}`,
            );
          else if (message.error) socket.destroy(new Error(`QEMU refuses ${command}: ${message.error.desc}`));
          else if (message.id === 'kdelta') {
            resolve(message.return);
            socket.destroy();
          }
        }
      });
      socket.on('error', reject);
      socket.on('close', () => {
        clearTimeout(timer);
        reject(new Error(`QEMU is gone before it answered ${command}`));
      });
    });
  } finally {
    closeSync(fd);
  }
}
