import { readdir, readFile, readlink } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process that can't be taken for another one that got its pid later. */
export interface ProcessId {
  pid: number;
  /** Field 22 of /proc/PID/stat: clock ticks since boot. */
  startTime: string;
}

interface ProcessStat {
  state: string;
  startTime: string;
  /** Clock ticks, user and system. */
  cpuTicks: number;
}

async function readStat(pid: number): Promise<ProcessStat | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (text === null) return null;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0]!, startTime: fields[19]!, cpuTicks: Number(fields[11]) + Number(fields[12]) };
}

export async function identify(pid: number): Promise<ProcessId | null> {
  const stat = await readStat(pid);
  return stat && stat.state !== 'Z' ? { pid, startTime: stat.startTime } : null;
}

export async function isAlive(id: ProcessId): Promise<boolean> {
  const stat = await readStat(id.pid);
  return stat !== null && stat.state !== 'Z' && stat.state !== 'X' && stat.startTime === id.startTime;
}

/** CPU seconds that a process has used, 0 when it is gone. */
export async function cpuSeconds(pid: number): Promise<number> {
  return ((await readStat(pid))?.cpuTicks ?? 0) / 100;
}

/** Ends a process at once and waits until it is gone. */
export async function kill(id: ProcessId): Promise<void> {
  for (let tries = 0; await isAlive(id); tries++) {
    try {
      process.kill(id.pid, 'SIGKILL');
    } catch {
      return;
    }
    await sleep(Math.min(10 * 2 ** tries, 500));
  }
}

/** Processes that run in `dir` or below, with their arguments. */
export async function processesIn(dir: string): Promise<{ id: ProcessId; args: string[] }[]> {
  const found: { id: ProcessId; args: string[] }[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const cwd = await readlink(`/proc/${name}/cwd`).catch(() => '');
    if (cwd !== dir && !cwd.startsWith(`${dir}/`)) continue;
    const id = await identify(Number(name));
    const args = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    if (id) found.push({ id, args: args.split('\0') });
  }
  return found;
}
