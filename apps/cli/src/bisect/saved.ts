import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import type { SearchRecord } from '@kdelta/bisect';

/** A bisect run on disk, in the git directory; rewritten after every run of the command. */
export interface SavedRun {
  version: 1;
  goodName: string;
  badName: string;
  command: string[];
  metric: string | null;
  checkout: boolean;
  firstParent: boolean;
  maxRuns: number;
  /** Runs of the command so far, those without a result included. */
  runs: number;
  /** Where HEAD was, and the commit that it is at now. */
  head: { ref: string | null; sha: string };
  at: string;
  /** Process of this run, and of the command that it is waiting for, with their start times. */
  owner: ProcessId;
  child: ProcessId | null;
  search: SearchRecord;
}

export interface ProcessId {
  pid: number;
  start: string | null;
}

export function readSaved(path: string): SavedRun | null {
  if (!existsSync(path)) return null;
  const saved = JSON.parse(readFileSync(path, 'utf8')) as SavedRun;
  return saved.version === 1 ? saved : null;
}

/** Replaces the file in one step: a kill leaves the old one or the new one. */
export function writeSaved(path: string, saved: SavedRun): void {
  const next = `${path}.next`;
  const file = openSync(next, 'w', 0o600);
  writeSync(file, `${JSON.stringify(saved)}\n`);
  fsyncSync(file);
  closeSync(file);
  renameSync(next, path);
}

export function removeSaved(path: string): void {
  rmSync(path, { force: true });
  rmSync(`${path}.next`, { force: true });
}

/** The process with its start time, so that a reused number isn't mistaken for it. */
export function identify(pid: number): ProcessId {
  return { pid, start: startTime(pid) };
}

export function isAlive(process: ProcessId): boolean {
  return process.start !== null && startTime(process.pid) === process.start;
}

/** Field 22 of /proc/PID/stat; the name in field 2 may hold spaces and brackets. */
function startTime(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}
