import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TimelineEntry } from '@kdelta/hosts';

/** The words of a timeline, in order. */
export const MARKS = {
  bootStart: 'boot start',
  qemuStart: 'qemu start',
  firstLogin: 'first login',
  programStart: 'program start',
  programEnd: 'program end',
  released: 'released',
} as const;

/** Entries kept in the boot's folder, so that a second process goes on where a killed one stopped. */
export class Timeline {
  private constructor(
    private readonly file: string,
    readonly entries: TimelineEntry[],
    private readonly tell: ((entry: TimelineEntry) => void) | undefined,
  ) {}

  static async open(dir: string, fresh: boolean, tell?: (entry: TimelineEntry) => void): Promise<Timeline> {
    const file = join(dir, 'timeline.jsonl');
    const text = fresh ? '' : await readFile(file, 'utf8').catch(() => '');
    const entries = text
      .split('\n')
      .filter((line) => line.endsWith('}'))
      .map((line) => JSON.parse(line) as TimelineEntry);
    return new Timeline(file, entries, tell);
  }

  /** Adds what isn't there yet. */
  async add(...added: TimelineEntry[]): Promise<void> {
    for (const entry of added) {
      if (this.entries.some((known) => known.at === entry.at && known.what === entry.what)) continue;
      this.entries.push(entry);
      this.tell?.(entry);
      await appendFile(this.file, `${JSON.stringify(entry)}\n`).catch(() => {});
    }
  }

  mark(what: string): Promise<void> {
    return this.add({ at: Date.now(), what });
  }
}

/**
 * Seconds of a boot that are neither the guest's start nor the program: wall time − (QEMU start → first login) −
 * (program start → program end). Null when a mark is missing (a boot that failed or was taken over).
 */
export function overheadSeconds(entries: readonly TimelineEntry[]): number | null {
  const at = (what: string) => entries.find((entry) => entry.what === what)?.at;
  const marks = Object.values(MARKS).map(at);
  if (marks.some((mark) => mark === undefined)) return null;
  const [bootStart, qemuStart, firstLogin, programStart, programEnd, released] = marks as number[];
  return (released! - bootStart! - (firstLogin! - qemuStart!) - (programEnd! - programStart!)) / 1000;
}
