import { open, stat } from 'node:fs/promises';

/** What a console line tells about a boot. */
export type ConsoleSign = { kind: 'up' } | { kind: 'panic'; message: string };

/** Printed by the guest's init right before sshd starts. */
export const UP_MARK = 'kdelta-init: up';

/** Follows a console log that another process writes. */
export class ConsoleTail {
  private offset = 0;
  private rest = '';
  /** Bytes seen so far. */
  size = 0;

  constructor(readonly file: string) {}

  /** Reads what came since the last call; returns the signs in it, in order. */
  async read(): Promise<ConsoleSign[]> {
    const signs: ConsoleSign[] = [];
    const handle = await open(this.file, 'r').catch(() => null);
    if (!handle) return signs;
    try {
      const buffer = Buffer.alloc(256 * 1024);
      for (;;) {
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, this.offset);
        if (bytesRead === 0) break;
        this.offset += bytesRead;
        this.size = this.offset;
        const lines = (this.rest + buffer.toString('utf8', 0, bytesRead)).split('\n');
        this.rest = lines.pop()!.slice(-4096);
        for (const line of lines) {
          const sign = signOf(line);
          if (sign) signs.push(sign);
        }
      }
      return signs;
    } finally {
      await handle.close();
    }
  }
}

export function signOf(line: string): ConsoleSign | null {
  if (line.includes(UP_MARK)) return { kind: 'up' };
  const panic = /Kernel panic - not syncing: ([^\r\n]{0,200})/.exec(line);
  return panic ? { kind: 'panic', message: cleanText(panic[1]!).trim() } : null;
}

/**
 * Whether the first oops of a console is the emulator's fault and not the kernel's. The kernel patches its running code
 * through a breakpoint (x86 text_poke_bp); QEMU's threads may run a stale translation after the breakpoint is gone. Then
 * the kernel traps on an `int3` that its own dump of the code no longer shows: the byte before RIP isn't 0xcc. Seen once in about
 * 140 boots with two CPUs (QEMU 7.2).
 */
export function isStaleBreakpoint(console: string): boolean {
  const oops = console.indexOf('int3: 0000 [#1]');
  const code = oops >= 0 && /^.*\bCode:((?: [0-9a-f]{2})+) <[0-9a-f]{2}>/m.exec(console.slice(oops));
  return code ? !code[1]!.endsWith(' cc') : false;
}

/** The last `maxBytes` of a console log as plain text. */
export async function consoleText(file: string, maxBytes = 64 * 1024): Promise<string> {
  const handle = await open(file, 'r').catch(() => null);
  if (!handle) return '';
  try {
    const { size } = await stat(file);
    const length = Math.min(size, maxBytes);
    const buffer = Buffer.alloc(length);
    await handle.read(buffer, 0, length, size - length);
    return cleanText(buffer.toString('utf8'));
  } finally {
    await handle.close();
  }
}

/** The last lines of a text, for messages. */
export function lastLines(text: string, count = 30): string {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}

/** Output of a host is strangers' text: no escape sequences, no control characters, valid UTF-8. */
export function cleanText(text: string): string {
  return text
    .replace(/\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,200}(\x07|\x1b\\)|\x1b[@-_c]/g, '')
    .replace(/\r+\n/g, '\n')
    .replace(/[\x00-\x08\x0b-\x1f\x7f]/g, '');
}
