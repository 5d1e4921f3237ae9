import { fields, type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

const columns = [
  'reads',
  'reads_merged',
  'sectors_read',
  'read_ms',
  'writes',
  'writes_merged',
  'sectors_written',
  'write_ms',
  'in_flight',
  'io_ms',
  'weighted_io_ms',
  'discards',
  'discards_merged',
  'sectors_discarded',
  'discard_ms',
  'flushes',
  'flush_ms',
];

/** One line per disk and partition (11, 15 or 17 numbers, as kernels have grown them); loop and RAM disks are left out. */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  for (const line of lines) {
    if (context.unterminated) break;
    out.add('time', /^time: (\S+)$/.exec(line)?.[1]);
    const match = /^ *\d+ +\d+ (\S+) (\d.*)$/.exec(line);
    if (!match || /^(loop|ram|zram)\d/.test(match[1]!)) continue;
    const numbers = fields(match[2]!);
    if (![11, 15, 17].includes(numbers.length)) continue;
    numbers.forEach((number, i) => {
      out.add(`${match[1]}.${columns[i]}`, number);
    });
  }
  return out.samples;
}
