import { gunzipSync } from 'node:zlib';
import { parseCsv } from './csv.ts';
import { MatrixError } from './errors.ts';
import type { Matrix } from './types.ts';

/** A matrix of more numbers than this is refused: judging it would need more memory than a worker has. */
export const MAX_CELLS = 50_000_000;
/** V8 cannot hold a longer string. */
const MAX_TEXT_BYTES = 500_000_000;

/**
 * Reads a matrix: LKP's `matrix.json` and `stats.json` (one number per metric), our JSON, CSV, each also gzipped.
 *
 * Outcomes of the doubtful cases, one each:
 * - a row shorter than the number of boots is filled up with `null` at its end; a longer one than `stats_source`
 *   names is an error; without `stats_source` the longest row tells how many boots there are;
 * - a string that is a decimal number is that number, any other string, `true`, `false`, `NaN`, `Infinity`, a number
 *   beyond float64 and a nested object are `null`; an integer beyond 2^53 becomes the nearest float64;
 * - a metric without any number is dropped; zeros stay zeros (LKP's filled ones cannot be told apart).
 *
 * @param input text or bytes; `name` is used in messages.
 * @throws MatrixError KD_MATRIX_SYNTAX, KD_MATRIX_SHAPE, KD_MATRIX_EMPTY, KD_MATRIX_TOO_LARGE
 */
export function parseMatrix(input: string | Uint8Array, name = 'matrix'): Matrix {
  const text = typeof input === 'string' ? input : decode(input, name);
  const start = text.trimStart();
  if (start === '') throw new MatrixError('KD_MATRIX_EMPTY', `${name}: the file is empty; a matrix has metrics`);
  if (!/^[[{"]/.test(start) && /^[^\n]*,/.test(start)) return parseCsv(text, name);
  if (start.startsWith('"') && /^"(?:[^"]|"")*"\s*,/.test(start)) return parseCsv(text, name);
  return matrixFromObject(parseJson(text, name), name);
}

/**
 * The matrix in an already parsed JSON value, by the rules of {@link parseMatrix}. Full rows of numbers are taken as
 * they are, not copied: leave the value alone afterwards.
 */
export function matrixFromObject(value: unknown, name = 'matrix'): Matrix {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new MatrixError(
      'KD_MATRIX_SHAPE',
      `${name}: expected an object of metric → array of numbers, got ${Array.isArray(value) ? 'an array' : value === null ? 'null' : `a ${typeof value}`}`,
    );
  }
  const source = value as Record<string, unknown>;
  const named = Object.hasOwn(source, 'stats_source') ? source.stats_source : undefined;
  const boots = Array.isArray(named) ? named.map(String) : typeof named === 'string' ? [named] : undefined;
  let width = boots?.length ?? 0;
  const rows: [string, unknown[]][] = [];
  for (const metric of Object.keys(source)) {
    if (metric === 'stats_source') continue;
    const cells = source[metric];
    if (cells !== null && typeof cells === 'object' && !Array.isArray(cells)) {
      throw new MatrixError('KD_MATRIX_SHAPE', `${name}: ${metric} is an object; expected an array of numbers`);
    }
    const row: unknown[] = Array.isArray(cells) ? cells : [cells];
    if (boots && row.length > boots.length) {
      throw new MatrixError(
        'KD_MATRIX_SHAPE',
        `${name}: ${metric} has ${row.length} values, but stats_source names ${boots.length} boots`,
      );
    }
    if (row.length > width) width = row.length;
    rows.push([metric, row]);
  }
  if (rows.length * width > MAX_CELLS) {
    throw new MatrixError(
      'KD_MATRIX_TOO_LARGE',
      `${name}: ${rows.length} metrics × ${width} boots; at most ${MAX_CELLS} numbers are read, split the matrix`,
    );
  }
  const metrics = new Map<string, (number | null)[]>();
  for (const [metric, row] of rows) {
    const values = readRow(row, width);
    if (values) metrics.set(metric, values);
  }
  if (metrics.size === 0) {
    throw new MatrixError('KD_MATRIX_EMPTY', `${name}: no metric has a number; a matrix is {"metric": [1.5, 2, …], …}`);
  }
  return { boots: boots ?? bootNames(width), metrics };
}

/** One cell: a finite number, or null (see {@link parseMatrix}). */
export function readCell(cell: unknown): number | null {
  if (typeof cell === 'number') return Number.isFinite(cell) ? cell : null;
  if (typeof cell === 'string' && /^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i.test(cell)) {
    const value = Number(cell);
    return Number.isFinite(value) ? value : null;
  }
  return null;
}

export function bootNames(n: number): string[] {
  return Array.from({ length: n }, (_, i) => String(i + 1));
}

function readRow(row: unknown[], width: number): (number | null)[] | null {
  if (isWhole(row, width)) return row;
  const values: (number | null)[] = new Array(width);
  let any = false;
  for (let i = 0; i < width; i++) {
    const value = i < row.length ? readCell(row[i]) : null;
    values[i] = value;
    if (value !== null) any = true;
  }
  return any ? values : null;
}

function isWhole(row: unknown[], width: number): row is number[] {
  if (row.length !== width || width === 0) return false;
  for (let i = 0; i < width; i++) {
    const cell = row[i];
    if (typeof cell !== 'number' || cell - cell !== 0) return false;
  }
  return true;
}

function decode(bytes: Uint8Array, name: string): string {
  let data = bytes;
  if (data[0] === 0x1f && data[1] === 0x8b) {
    try {
      data = gunzipSync(data, { maxOutputLength: MAX_TEXT_BYTES });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(name);
      throw new MatrixError('KD_MATRIX_SYNTAX', `${name}: looks gzipped but cannot be unpacked: ${String(error)}`);
    }
  }
  if (data.length > MAX_TEXT_BYTES) throw tooLarge(name);
  return new TextDecoder('utf-8').decode(data);
}

function tooLarge(name: string): MatrixError {
  return new MatrixError('KD_MATRIX_TOO_LARGE', `${name}: more than ${MAX_TEXT_BYTES / 1e6} MB; split the matrix`);
}

function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // Ruby and Python write bare NaN and Infinity: both mean "no number here".
    const repaired = text.replace(/(?<=[[,:]\s*)(?:NaN|-?Infinity)(?=\s*[\],}])/g, 'null');
    if (repaired !== text) {
      try {
        return JSON.parse(repaired);
      } catch {
        // the first message points at the right place
      }
    }
    throw new MatrixError('KD_MATRIX_SYNTAX', `${name}: neither JSON nor CSV: ${(error as Error).message}`);
  }
}
