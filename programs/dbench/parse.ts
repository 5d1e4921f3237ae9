import { type ParseContext, roundTo, type Samples, Sink } from '@kdelta/programs/parsing';

const operation = /^ (\w+)\s+(\d+)\s+(\d+\.\d{3})\s+(\d+\.\d{3})$/;
const throughput = /^Throughput (\S+) MB\/sec\s.*?\b(\d+) clients\s+(\d+) procs\s+max_latency=(\d+\.\d{3}) ms$/;

/**
 * dbench 4: the table of operations and the last line. Latencies are ms; `max_latency` has two decimals, as LKP's.
 * Several runs in one output are several samples, and the harmonic means are over them.
 */
export function parse(lines: Iterable<string>, _context: ParseContext): Samples {
  const out = new Sink();
  for (const line of lines) {
    const row = operation.exec(line);
    if (row) {
      out.add(`${row[1]}.count`, row[2]);
      out.add(`${row[1]}.avg_lat`, row[3]);
      out.add(`${row[1]}.max_lat`, row[4]);
    }
    const last = throughput.exec(line);
    if (!last) continue;
    out.add('throughput_MB/s', last[1]);
    out.add('clients', last[2]);
    out.add('procs', last[3]);
    out.add('max_latency', roundTo(Number(last[4]), 2));
  }
  for (const name of ['throughput_MB/s', 'max_latency']) {
    const values = out.samples[name];
    if (values) out.add(`${name}_harmonic_mean`, harmonicMean(values));
  }
  return out.samples;
}

function harmonicMean(values: number[]): number | undefined {
  if (values.length === 1) return values[0];
  if (values.some((value) => value <= 0)) return undefined;
  return values.length / values.reduce((sum, value) => sum + 1 / value, 0);
}
