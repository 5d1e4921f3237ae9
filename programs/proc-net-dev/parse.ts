import { fields, type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

const receive = ['bytes', 'packets', 'errs', 'drop', 'fifo', 'frame', 'compressed', 'multicast'];
const transmit = ['bytes', 'packets', 'errs', 'drop', 'fifo', 'colls', 'carrier', 'compressed'];
const columns = [...receive.map((name) => `rx_${name}`), ...transmit.map((name) => `tx_${name}`)];

/** `eth0: 16 numbers` per interface. */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  for (const line of lines) {
    if (context.unterminated) break;
    out.add('time', /^time: (\S+)$/.exec(line)?.[1]);
    const match = /^ *(\S+): *(\d.*)$/.exec(line);
    if (!match || match[1] === 'time') continue;
    const numbers = fields(match[2]!);
    if (numbers.length !== columns.length) continue;
    columns.forEach((column, i) => {
      out.add(`${match[1]}.${column}`, numbers[i]);
    });
  }
  return out.samples;
}
