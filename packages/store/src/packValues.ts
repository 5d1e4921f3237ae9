import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** Little-endian float64s, deflated (level 1: a quarter of the time for 1 % more bytes; store study, C2b). */
export function packValues(values: Float64Array): Buffer {
  const raw = Buffer.alloc(values.length * 8);
  for (let i = 0; i < values.length; i++) raw.writeDoubleLE(values[i] as number, i * 8);
  return deflateRawSync(raw, { level: 1 });
}

/** The inverse of packValues; NaN = absent. */
export function unpackValues(packed: Buffer): Float64Array {
  const raw = inflateRawSync(packed);
  const values = new Float64Array(raw.length / 8);
  for (let i = 0; i < values.length; i++) values[i] = raw.readDoubleLE(i * 8);
  return values;
}
