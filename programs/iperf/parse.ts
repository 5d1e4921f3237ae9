import { at, jsonDocuments, numberAt, type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

/**
 * iperf3 `--json`, or `--json-stream` (3.17), whose events are one document each: bits per second that the sender and the receiver
 * saw, summed over the clients of one output.
 */
export function parse(lines: Iterable<string>, _context: ParseContext): Samples {
  const out = new Sink();
  const sums = new Map<string, number>();
  let cut = false;
  const documents = jsonDocuments(lines, () => {
    cut = true;
  });
  for (const document of whole(documents)) {
    // The sum over clients of which one failed or was cut would look like a slower kernel.
    if (at(document, 'error') !== undefined) return out.samples;
    const protocol = at(document, 'start', 'test_start', 'protocol');
    if (typeof protocol !== 'string') continue;
    const sides = { sender: 'sum_sent', receiver: 'sum_received' };
    for (const [side, key] of Object.entries(sides)) {
      const rate = numberAt(document, 'end', key, 'bits_per_second');
      const name = `${protocol.toLowerCase()}.${side}.bps`;
      if (rate !== undefined) sums.set(name, (sums.get(name) ?? 0) + rate);
    }
    // Before 3.17 a UDP test had one sum only.
    const both = numberAt(document, 'end', 'sum', 'bits_per_second');
    const name = `${protocol.toLowerCase()}.bps`;
    if (protocol === 'UDP' && both !== undefined) sums.set(name, (sums.get(name) ?? 0) + both);
  }
  if (!cut) for (const [name, value] of sums) out.add(name, value);
  return out.samples;
}

/** The documents, those of a stream's start and end events put together. A stream that failed or was cut is an error. */
function* whole(documents: Iterable<unknown>): Generator<unknown> {
  let start: unknown;
  for (const document of documents) {
    const event = at(document, 'event');
    if (event === undefined) yield document;
    if (event === 'start') start = at(document, 'data');
    if (event === 'error') yield { error: at(document, 'data') };
    if (event === 'end') {
      yield { start, end: at(document, 'data') };
      start = undefined;
    }
  }
  if (start !== undefined) yield { error: 'cut' };
}
