import type { Direction } from './types.ts';

/**
 * One operation of an MMTests benchmark: `Faults/cpu` at 1 client, with every sample in the order taken.
 * `op` is MMTests' client or thread count, or '' where it has none.
 */
export interface Operation {
  metric: string;
  op: string;
  samples: number[];
  better: Direction;
}

/** One named run of a work log. */
export interface MmtestsRun {
  name: string;
  benchmark: string;
  operations: Operation[];
  /** Seconds, from the `time ::` line. */
  duration?: { user: number; system: number; elapsed: number };
  /** /proc/vmstat at start and end. */
  vmstat?: { start: Record<string, number>; end: Record<string, number> };
}

const PFT_LINE = /^\s*\d+\s+(\d+)\s+\d+\s+([\d.]+)s\s+([\d.]+)s\s+([\d.]+)s\s+([\d.]+)\s+([\d.]+)\s*$/;

/** Columns of a pft line in MMTests' words; the first three are lower-better. */
export const PFT_METRICS: readonly { metric: string; better: Direction }[] = [
  { metric: 'User', better: 'lower' },
  { metric: 'System', better: 'lower' },
  { metric: 'Elapsed', better: 'lower' },
  { metric: 'Faults/cpu', better: 'higher' },
  { metric: 'Faults/sec', better: 'higher' },
];

/** Reads `pft-<clients>.log` texts; lines that aren't pft's (warnings, titles) are passed over. */
export function parsePftLogs(texts: Iterable<string>): Operation[] {
  const found = new Map<string, number[][]>();
  for (const text of texts)
    for (const line of text.split('\n')) {
      const match = PFT_LINE.exec(line);
      if (!match) continue;
      const rows = found.get(match[1]!) ?? PFT_METRICS.map(() => []);
      found.set(match[1]!, rows);
      PFT_METRICS.forEach((_, i) => void rows[i]!.push(Number(match[i + 2])));
    }
  const clients = [...found.keys()].sort((a, b) => Number(a) - Number(b));
  return PFT_METRICS.flatMap(({ metric, better }, i) =>
    clients.map((op) => ({ metric, op, samples: found.get(op)![i]!, better })),
  );
}

/**
 * Reads `tests-timestamp`: the duration of `test` from its `time ::` line, and /proc/vmstat from the `file start ::`
 * and `file end ::` sections. Both are absent when the run was cut short.
 */
export function parseTestsTimestamp(text: string, test: string): Pick<MmtestsRun, 'duration' | 'vmstat'> {
  const result: Pick<MmtestsRun, 'duration' | 'vmstat'> = {};
  const sections: { start: Record<string, number>; end: Record<string, number> } = { start: {}, end: {} };
  let reading: Record<string, number> | null = null;
  for (const line of text.split('\n')) {
    const section = /^file (start|end) :: (\S+)/.exec(line);
    if (section) {
      reading = section[2] === '/proc/vmstat' ? sections[section[1] as 'start' | 'end'] : null;
      continue;
    }
    const time = /^time ::\s*(\S+)\s+([\d.]+) user\s+([\d.]+) system\s+([\d.:]+) elapsed/.exec(line);
    if (time && time[1] === test)
      result.duration = { user: Number(time[2]), system: Number(time[3]), elapsed: seconds(time[4]!) };
    if (/^\w[\w ]* :: /.test(line)) reading = null;
    const counter = /^(\w+) (\d+)$/.exec(line);
    if (reading && counter) reading[counter[1]!] = Number(counter[2]);
  }
  if (Object.keys(sections.start).length > 0 && Object.keys(sections.end).length > 0) result.vmstat = sections;
  return result;
}

/** `1:07.74` or `69.88`, in seconds. */
function seconds(text: string): number {
  return text.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
}
