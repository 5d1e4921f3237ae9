import { Readable } from 'node:stream';
import type { Command } from 'commander';
import { vi } from 'vitest';

/** Runs a command in this process, as from the shell: what it wrote, and its exit status. `input` is its standard input. */
export async function runCommand(
  command: Command,
  args: string[],
  input?: string,
): Promise<{ out: string; err: string; status: number }> {
  const written = { out: '', err: '' };
  const into = (name: 'out' | 'err') => (text: string | Uint8Array) => {
    written[name] += text;
    return true;
  };
  vi.spyOn(process.stdout, 'write').mockImplementation(into('out'));
  vi.spyOn(process.stderr, 'write').mockImplementation(into('err'));
  if (input !== undefined) vi.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from([input]) as never);
  process.exitCode = 0;
  try {
    await command.parseAsync(args, { from: 'user' });
    return { ...written, status: Number(process.exitCode) };
  } finally {
    process.exitCode = 0;
    vi.restoreAllMocks();
  }
}
