import { type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

/** `12.34%|[k] clear_page|mm/memory.c`; the file may be missing, may have a line number, and perf pads each field. */
const row = /^ *(\d+\.\d\d)% *\|\[(.)\] (.+?) *(?:\|(.*?) *)?$/;

/**
 * `perf report -t '|' -F overhead,sym[,srcfile|srcline]`: percent of all samples. `symbol.<name>%` for the kernel's symbols,
 * `user%` for all others together, and `file.<path>%`, the total of the symbols of one source file: "all of mm/memcontrol.c
 * together". Nothing is given unless the report has its `# end`: a total of a part is none.
 */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const totals = new Map<string, number>();
  let whole = false;
  const add = (name: string, percent: number) => totals.set(name, (totals.get(name) ?? 0) + percent);
  for (const line of lines) {
    if (context.unterminated) break;
    if (line === '# end') whole = true;
    const match = row.exec(line);
    if (!match) continue;
    const percent = Number(match[1]);
    if (match[2] === 'k') add(`symbol.${match[3]}%`, percent);
    else add('user%', percent);
    const file = match[2] === 'k' ? sourceFile(match[4] ?? '') : null;
    if (file) add(`file.${file}%`, percent);
  }
  const out = new Sink();
  if (!whole) return out.samples;
  for (const [name, percent] of totals) out.add(name, Math.round(percent * 100) / 100);
  return out.samples;
}

/**
 * A path below the kernel's own folder, without line number; null for what is no source (addr2line's `??:0`, an object's name).
 * Absolute paths are cut after the last folder whose name begins with linux, where there is one.
 */
export function sourceFile(text: string): string | null {
  const path = text.replace(/:(\d+|\?)( \(discriminator \d+\))?$/, '');
  if (!/\.(c|h|S|rs)$/.test(path)) return null;
  return path.replace(/^.*\/linux[^/]*\/(?=[^/]+\/)(?!asm\/|uapi\/)/, '').replace(/^(\.{1,2}\/)+/, '');
}
