import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { hasVectors, parseWith, readVectors, vectorDir } from './vectors.ts';

const cacheDir = mkdtempSync(join(tmpdir(), 'kdelta-parsers-'));
afterAll(() => rmSync(cacheDir, { recursive: true }));

/** Mulberry32: the same places in every run. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const vectors = readVectors();

// Without the vectors (KDELTA_SHARED, or ../shared) there is nothing to compare with: the fixtures of our own remain.
describe.skipIf(!hasVectors)('raw files of lkp-tests', () => {
  it('are all tried: each has its numbers beside it', () => {
    const files = readdirSync(vectorDir, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .flatMap(({ name }) => readdirSync(join(vectorDir, name)).map((file) => `${name}/${file}`))
      .filter((file) => !file.endsWith('.yaml'));
    expect(vectors.map(({ program, name }) => `${program}/${name}`).sort()).toEqual(files.sort());
    expect(files.length).toBeGreaterThan(0);
  });

  it.each(vectors)('$program/$name parses to the numbers beside it', async ({ program, raw, expected }) => {
    const samples = await parseWith(program, raw, cacheDir);
    for (const [name, values] of Object.entries(expected)) {
      expect(samples[name]?.length, name).toBe(values.length);
      values.forEach((value, i) => {
        expect(Math.abs(samples[name]![i]! - value), name).toBeLessThanOrEqual(1e-9 * Math.max(1, Math.abs(value)));
      });
    }
  });

  it.each(vectors)('$program/$name cut at 20 places gives no number that the whole lacks', async (vector) => {
    const { program, raw } = vector;
    const whole = await parseWith(program, raw, cacheDir);
    const random = randomOf(raw.length);
    for (let i = 0; i < 20; i++) {
      const at = Math.floor(random() * raw.length);
      const cut = await parseWith(program, raw.subarray(0, at), cacheDir);
      for (const [name, values] of Object.entries(cut)) {
        for (const value of values) expect(whole[name], `${name} cut at ${at}`).toContain(value);
      }
    }
  });
});
