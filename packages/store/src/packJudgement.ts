import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Judgement } from '@kdelta/stats';

/**
 * judgement.packed. A pair's page shows the KPIs, what changed and some hundred rows more; a judgement has thousands.
 * Deltas are ranked by the judge, so the value is two deflated JSON parts, and a page inflates and parses the first only:
 *
 *   'KDJ2' | u32le length of part 1 | part 1: {…judgement, deltas: the leading ones, total, counts} | part 2: the other deltas
 *
 * Deltas are written without their keys (`toShapes`): those were half of the text that each page had to parse. 'KDJ1', with
 * keys, is still read.
 */
const MAGIC = Buffer.from('KDJ2');
const MAGIC_1 = Buffer.from('KDJ1');
const LEADING_SAME = 200;

export interface JudgementHead extends Omit<Judgement, 'deltas'> {
  /** KPIs, all that changed or has flags that matter, and 200 more; `total` says how many there are in all. */
  deltas: Judgement['deltas'];
  total: number;
  /** Deltas by verdict, KPIs included. */
  counts: Record<string, number>;
  /** Programs that the metrics come from, with the number of their metrics. */
  programs: Record<string, number>;
}

/** Packs a judgement for the database (about 40 bytes per delta of 2 × 5 boots). */
export function packJudgement(judgement: Judgement): Buffer {
  const { deltas, ...rest } = judgement;
  let lead = 0;
  for (let i = 0; i < deltas.length; i++) {
    const verdict = deltas[i]!.verdict;
    if (deltas[i]!.kpi || (verdict !== 'same' && verdict !== 'inconclusive')) lead = i + 1;
  }
  lead = Math.min(deltas.length, lead + LEADING_SAME);
  const counts: Record<string, number> = {};
  const programs: Record<string, number> = {};
  for (const delta of deltas) {
    counts[delta.verdict] = (counts[delta.verdict] ?? 0) + 1;
    const program = delta.metric.split('.', 1)[0]!;
    programs[program] = (programs[program] ?? 0) + 1;
  }
  const head = { ...rest, deltas: toShapes(deltas.slice(0, lead)), total: deltas.length, counts, programs };
  const first = deflateRawSync(JSON.stringify(head), { level: 6 });
  const length = Buffer.alloc(4);
  length.writeUInt32LE(first.length);
  const second = deflateRawSync(JSON.stringify(toShapes(deltas.slice(lead))), { level: 6 });
  return Buffer.concat([MAGIC, length, first, second]);
}

/** The first part: enough for a page without search or filters. */
export function unpackJudgementHead(packed: Buffer): JudgementHead {
  const shaped = isShaped(packed);
  const length = packed.readUInt32LE(4);
  const head = JSON.parse(inflateRawSync(packed.subarray(8, 8 + length)).toString());
  return shaped ? { ...head, deltas: fromShapes(head.deltas) } : head;
}

/** All of it. */
export function unpackJudgement(packed: Buffer): Judgement {
  const { total: _total, counts: _counts, programs: _programs, ...head } = unpackJudgementHead(packed);
  const rest = JSON.parse(inflateRawSync(packed.subarray(8 + packed.readUInt32LE(4))).toString());
  return { ...head, deltas: head.deltas.concat(isShaped(packed) ? fromShapes(rest) : rest) };
}

function isShaped(packed: Buffer): boolean {
  const magic = packed.subarray(0, 4);
  if (magic.equals(MAGIC)) return true;
  if (magic.equals(MAGIC_1)) return false;
  throw new Error('KD_JUDGEMENT_UNREADABLE: not a packed judgement');
}

type Deltas = Judgement['deltas'];
/** A row begins with the number of its shape: the keys of the values that follow. `base` and `head` are such rows too. */
interface Shaped {
  shapes: string[][];
  rows: unknown[][];
}
const NESTED = new Set(['base', 'head']);

function toShapes(deltas: Deltas): Shaped {
  const shapes: string[][] = [];
  const numberOf = new Map<string, number>();
  const row = (object: object): unknown[] => {
    const entries = Object.entries(object).filter(([, value]) => value !== undefined);
    const keys = entries.map(([key]) => key);
    const name = keys.join();
    let shape = numberOf.get(name);
    if (shape === undefined) {
      shape = shapes.push(keys) - 1;
      numberOf.set(name, shape);
    }
    return [shape, ...entries.map(([key, value]) => (NESTED.has(key) ? row(value) : value))];
  };
  return { shapes, rows: deltas.map(row) };
}

function fromShapes({ shapes, rows }: Shaped): Deltas {
  const object = (row: unknown[]): Record<string, unknown> => {
    const keys = shapes[row[0] as number]!;
    const made: Record<string, unknown> = {};
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i]!;
      const value = row[i + 1];
      made[key] = key === 'base' || key === 'head' ? object(value as unknown[]) : value;
    }
    return made;
  };
  return rows.map(object) as unknown as Deltas;
}
