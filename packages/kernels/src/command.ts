import { execFile } from 'node:child_process';
import { KernelError } from './errors.ts';

export interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a program without a shell; a non-zero exit is a result. Throws KD_TOOL_MISSING and KD_ABORTED. */
export async function runCommand(
  program: string,
  args: string[],
  options: { cwd?: string; env?: Record<string, string | undefined>; signal?: AbortSignal; timeoutMs?: number } = {},
): Promise<CommandResult> {
  return await new Promise((resolve, reject) => {
    execFile(
      program,
      args,
      {
        cwd: options.cwd,
        env: { PATH: process.env.PATH, LC_ALL: 'C', ...options.env } as NodeJS.ProcessEnv,
        signal: options.signal,
        timeout: options.timeoutMs,
        maxBuffer: 256 * 1024 * 1024,
      },
      (error, stdout, stderr) => {
        const code = (error as { code?: unknown } | null)?.code;
        if (code === 'ENOENT') reject(new KernelError('KD_TOOL_MISSING', `${program} is not installed`));
        else if (code === 'ABORT_ERR') reject(new KernelError('KD_ABORTED', `${program} was stopped`));
        else resolve({ code: error ? (typeof code === 'number' ? code : 255) : 0, stdout, stderr });
      },
    );
  });
}
