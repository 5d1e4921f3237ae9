import { fields, mean, type ParseContext, type Samples, Sink } from '@kdelta/programs/parsing';

type Kind = 'stream' | 'datagram' | 'transactions';

const commandLine = /\bnetperf\b.*\s-t\s+\S+/;
const duration = /\s-l\s+(\d+)\b/;
/** The unit over the throughput's column, as `-f` chose it, and its 10^6 bits/s. */
const unitHeader = /\s(10\^[369]bits|[KMG]Bytes) *\/sec\b/;
const megabits: Record<string, number> = {
  '10^3bits': 1e-3,
  '10^6bits': 1,
  '10^9bits': 1e3,
  KBytes: (8 * 2 ** 10) / 1e6,
  MBytes: (8 * 2 ** 20) / 1e6,
  GBytes: (8 * 2 ** 30) / 1e6,
};

/**
 * netperf's classic output of many clients: means and sums over them of 10^6 bits/s (streams) or transactions/s (`_RR`, `_CRR`),
 * and `workload`, the messages or transactions of all in the time that was asked for. When fewer results than started clients are there, the output is cut and
 * has none.
 */
export function parse(lines: Iterable<string>, context: ParseContext): Samples {
  const out = new Sink();
  const sent: number[] = [];
  const received: number[] = [];
  let started = 0;
  let workload = 0;
  let kind: Kind | undefined;
  let asked: number | undefined;
  let scale = 1;
  for (const line of lines) {
    if (context.unterminated) return out.samples;
    if (commandLine.test(line)) {
      started += 1;
      asked = Number(duration.exec(line)?.[1]) || undefined;
    }
    kind = kindOf(line) ?? kind;
    scale = megabits[unitHeader.exec(line)?.[1] ?? ''] ?? scale;
    const numbers = readRow(line);
    if (!numbers || !kind) continue;
    if (kind === 'stream' && numbers.length >= 5) {
      sent.push(numbers[4]! * scale);
      workload += (numbers[4]! * scale * 1e6 * (asked ?? numbers[3]!)) / 8 / numbers[2]!;
    } else if (kind === 'transactions' && numbers.length >= 6) {
      sent.push(numbers[5]!);
      workload += numbers[5]! * (asked ?? numbers[4]!);
    } else if (kind === 'datagram' && received.length < sent.length) {
      // The receiver's row follows its sender's, with `-c -C` as long as that.
      received.push(numbers[3]! * scale);
    } else if (kind === 'datagram' && numbers.length >= 6) {
      sent.push(numbers[5]! * scale);
      workload += numbers[3]!;
    }
  }
  if (sent.length === 0 || sent.length < started) return out.samples;
  if (kind === 'datagram' && received.length < sent.length) return out.samples;
  addRates(out, kind === 'transactions' ? 'tps' : 'Mbps', sent, received, workload);
  return out.samples;
}

function addRates(out: Sink, unit: string, sent: number[], received: number[], workload: number): void {
  const total = sum(sent);
  const totalReceived = sum(received);
  const meanReceived = received.length > 0 ? mean(received) : 0;
  out.add(`Throughput_${unit}`, mean(sent));
  out.add(`Throughput_total_${unit}`, total);
  if (unit === 'Mbps') {
    out.add('ThroughputRecv_Mbps', meanReceived);
    out.add('ThroughputBoth_Mbps', mean(sent) + meanReceived);
    out.add('ThroughputRecv_total_Mbps', totalReceived);
    out.add('ThroughputBoth_total_Mbps', total + totalReceived);
  }
  out.add('workload', workload);
}

function kindOf(line: string): Kind | undefined {
  if (/REQUEST\/RESPONSE TEST|Connect\/Request\/Response TEST/i.test(line)) return 'transactions';
  if (/UNIDIRECTIONAL SEND TEST/.test(line)) return 'datagram';
  if (/(STREAM|MAERTS|SENDFILE) TEST/.test(line)) return 'stream';
  return undefined;
}

function readRow(line: string): number[] | undefined {
  const words = fields(line);
  if (words.length < 4 || !words.every((word) => /^-?\d+(\.\d+)?$/.test(word))) return undefined;
  return words.map(Number);
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
