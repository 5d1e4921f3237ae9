import { type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

/** pft's line to the byte: Gb, workers, cachelines, user, system, wall, faults per CPU second, faults per wall second. */
const row = /^ +\d+ +(\d+) +\d+ +(\d+\.\d\d)s +(\d+\.\d\d)s +(\d+\.\d\d)s +(\d+\.\d{3}) +(\d+\.\d{3})$/;
const bucket = /^#? ?< (\d+|inf) +(\d+)$/;

/**
 * pft's output, alone or in the `Clients:` / `Iteration:` form of LKP's loop: one sample per iteration. With more than one number
 * of clients each also has its own metrics, `clients-4.faults_per_sec`. Histogram buckets are `latency_<600ns`.
 */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  const perClients: [string, RegExpExecArray][] = [];
  let clients: string | undefined;
  for (const line of lines) {
    const header = /^Clients: (\d+)$/.exec(line);
    if (header && !context.unterminated) clients = header[1];
    const found = bucket.exec(line);
    // A bucket's count has nothing behind it that shows it is whole.
    if (found && !context.unterminated) out.add(`latency_<${found[1]}ns`, found[2]);
    const match = row.exec(line);
    if (!match) continue;
    addRow(out, '', match);
    perClients.push([clients ?? match[1]!, match]);
  }
  if (new Set(perClients.map(([name]) => name)).size < 2) return out.samples;
  for (const [name, match] of perClients) addRow(out, `clients-${name}.`, match);
  return out.samples;
}

function addRow(out: Sink, prefix: string, match: RegExpExecArray): void {
  out.add(`${prefix}user_time`, match[2]);
  out.add(`${prefix}system_time`, match[3]);
  out.add(`${prefix}elapsed_time`, match[4]);
  out.add(`${prefix}faults_per_sec_per_cpu`, match[5]);
  out.add(`${prefix}faults_per_sec`, match[6]);
}
