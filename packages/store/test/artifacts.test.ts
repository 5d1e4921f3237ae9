import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ArtifactStore, localArtifacts } from '../src/index.ts';

let dir: string;
let artifacts: ArtifactStore;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'kd-artifacts-'));
  artifacts = localArtifacts(dir);
});
afterEach(() => rm(dir, { recursive: true }));

test('content lies under its sha256, once, and comes back', async () => {
  const file = join(dir, 'abc');
  await writeFile(file, 'abc');
  // FIPS 180-2, appendix B.1.
  const abc = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
  expect(await artifacts.put('abc')).toEqual({ sha256: abc, bytes: 3 });
  expect(await artifacts.putFile(file)).toEqual({ sha256: abc, bytes: 3 });
  expect((await artifacts.get(abc)).toString()).toBe('abc');
  expect((await readdir(join(dir, 'ba'))).length).toBe(1);
  expect((await readdir(dir)).filter((name) => name.endsWith('.part'))).toEqual([]);
});

test('what is not there is named; what is no hash never becomes a path', async () => {
  await expect(artifacts.get('0'.repeat(64))).rejects.toThrow(/KD_ARTIFACT_MISSING/);
  await expect(artifacts.get('../../etc/passwd')).rejects.toThrow(/is no sha256/);
});
