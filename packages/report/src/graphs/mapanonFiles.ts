import type { MapanonRun } from './mapanon.ts';

/**
 * The texts of one instance's data files, and the boot's `meminfo` and `vmstat` where they ran. Memory is taken from meminfo if there
 * is one: vmstat of procps 4.0.2 (Debian 12) prints the same numbers in each line.
 */
export interface MapanonFiles {
  time: string;
  pagemap: string;
  refcount: string;
  age: string;
  pagereferences?: string;
  meminfo?: string;
  vmstat?: string;
}

/**
 * One run from its data files. Throws RangeError naming the file and line that isn't numbers, or the two files that
 * don't tell of the same pages.
 */
export function readMapanonFiles(name: string, files: MapanonFiles): MapanonRun {
  const times = table('time', files.time, 2);
  const pagemap = table('pagemap', files.pagemap, 2);
  const refcount = table('refcount', files.refcount, 2);
  const age = table('age', files.age, 2);
  for (const [kind, rows] of [
    ['refcount', refcount],
    ['age', age],
  ] as const)
    if (rows.length !== pagemap.length)
      throw new RangeError(`${kind}: ${rows.length} pages where pagemap has ${pagemap.length}`);
  let vmstat = files.meminfo === undefined ? [] : meminfoRows(files.meminfo);
  if (vmstat.length === 0 && files.vmstat !== undefined) vmstat = vmstatRows(files.vmstat);
  return {
    name,
    times: Float64Array.from(times, (row) => row[1]!),
    // The first line is `range references`.
    ...(files.pagereferences !== undefined && {
      pages: Uint32Array.from(table('pagereferences', files.pagereferences, 1).slice(1), (row) => row[0]!),
    }),
    refcount: Uint32Array.from(refcount, (row) => row[1]!),
    age: Uint32Array.from(age, (row) => row[1]!),
    present: Uint8Array.from(pagemap, (row) => row[1]!),
    // VM Regress's own files have no third column.
    swapped: Uint8Array.from(pagemap, (row) => row[2] ?? 0),
    ...(vmstat.length > 0 && { vmstat }),
  };
}

function table(kind: string, text: string, columns: number): number[][] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line, i) => {
    const row = line.split(' ').map(Number);
    if (line === '' || row.length < columns || !row.every(Number.isFinite))
      throw new RangeError(`${kind}, line ${i + 1}: not ${columns} numbers`);
    return row;
  });
}

/** What vmstat would print, of /proc/meminfo under a line `time: SECONDS` each; a sample that lacks one of its lines is left out. */
function meminfoRows(text: string): NonNullable<MapanonRun['vmstat']> {
  const rows: NonNullable<MapanonRun['vmstat']> = [];
  let first: number | undefined;
  for (const sample of text.split(/^time: /m).slice(1)) {
    const at = Number.parseFloat(sample);
    first ??= at;
    const kB = (name: string) => Number(new RegExp(`^${name}: +(\\d+) kB$`, 'm').exec(sample)?.[1]);
    const row = {
      time: at - first,
      swpd: kB('SwapTotal') - kB('SwapFree'),
      free: kB('MemFree'),
      buff: kB('Buffers'),
      cache: kB('Cached') + kB('SReclaimable'),
    };
    if (Object.values(row).every(Number.isFinite)) rows.push(row);
  }
  return rows;
}

/** The memory columns of `vmstat -t`, by their names; seconds since the first line. Lines that aren't whole are left out. */
function vmstatRows(text: string): NonNullable<MapanonRun['vmstat']> {
  const rows: NonNullable<MapanonRun['vmstat']> = [];
  let names: string[] = [];
  let first: number | undefined;
  for (const line of text.split('\n')) {
    const fields = line.trim().split(/\s+/);
    if (fields[0] === 'r' && fields[1] === 'b') names = fields;
    const stamp = /\s(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)$/.exec(line);
    if (!stamp) continue;
    const at = Date.parse(`${stamp[1]}T${stamp[2]}Z`) / 1000;
    first ??= at;
    const [swpd, free, buff, cache] = ['swpd', 'free', 'buff', 'cache'].map((name) =>
      Number(fields[names.indexOf(name)]),
    );
    if ([at, swpd, free, buff, cache].every(Number.isFinite))
      rows.push({ time: at - first, swpd: swpd!, free: free!, buff: buff!, cache: cache! });
  }
  return rows;
}
