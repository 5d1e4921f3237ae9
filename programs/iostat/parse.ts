import { at, braces, LineStamps, type ParseContext, parseJson, type Samples, Sink } from '@kdelta/programs/parsing';

const maxItemLength = 1 << 20;

/** iostat `-o JSON`, read item by item so that a cut file gives all whole reports: `avg-cpu.user%`, `sda.r/s`, `sda.w_await`. */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  let item = '';
  let depth = 0;
  const stamps = new LineStamps();
  for (const line of stamps.strip(lines, context)) {
    if (depth === 0 && line.trim() !== '{') continue;
    item += line;
    depth += braces(line);
    if (depth > 0 && item.length < maxItemLength && /^\s*\{\s*($|"(timestamp|avg-cpu)")/.test(item)) continue;
    if (depth === 0) addItem(out, parseJson(item.replace(/,\s*$/, '')));
    item = '';
    depth = 0;
  }
  stamps.addGap(out);
  return out.samples;
}

function addItem(out: Sink, item: unknown): void {
  const stamp = at(item, 'timestamp');
  if (typeof stamp === 'string') out.add('time', Date.parse(`${stamp.slice(0, 19)}Z`) / 1000);
  addNumbers(out, 'avg-cpu', at(item, 'avg-cpu'), '%');
  const disks = at(item, 'disk');
  if (!Array.isArray(disks)) return;
  for (const disk of disks) {
    const name = at(disk, 'disk_device');
    if (typeof name === 'string' && !/^(loop|ram)\d/.test(name)) addNumbers(out, name, disk, '');
  }
}

function addNumbers(out: Sink, prefix: string, value: unknown, suffix: string): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, number] of Object.entries(value)) {
    if (typeof number === 'number') out.add(`${prefix}.${key}${suffix}`, number);
  }
}
