import { readFileSync } from 'node:fs';

/**
 * `pid.start`: the process and the clock tick at which it started (field 22 of /proc/PID/stat), so that a pid that was
 * given out again isn't taken for the process that had it before. null when no such process runs.
 */
export function processIdentity(pid: number = process.pid): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may itself hold spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    return `${pid}.${fields[19]}`;
  } catch {
    return null;
  }
}

/** Whether the process named by `identity` still runs. */
export function isAlive(identity: string): boolean {
  const pid = Number.parseInt(identity, 10);
  return Number.isInteger(pid) && pid > 0 && processIdentity(pid) === identity.trim();
}
