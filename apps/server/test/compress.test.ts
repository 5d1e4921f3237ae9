import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chooseCoding } from '../src/compress.ts';
import { type Lab, openLab } from './lab.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab.close());

describe('the coding of an answer', () => {
  it('is one that the client takes: refusals by q=0 and * count, unknown ones don’t', () => {
    const chosen = ['gzip, deflate, br', 'gzip', 'br;q=0, gzip', 'gzip;q=0', '*', '*;q=0', 'zstd', '', undefined];
    expect(chosen.map(chooseCoding)).toEqual(['br', 'gzip', 'gzip', null, 'br', null, null, null, null]);
  });

  it('changes nothing of what is read', async () => {
    const url = `/pairs/${lab.ids.pairs.regression}`;
    const get = (coding?: string) =>
      lab.app.inject({ url, headers: { accept: 'text/html', ...(coding ? { 'accept-encoding': coding } : {}) } });
    const [plain, gzip, br] = await Promise.all([get(), get('gzip'), get('br')]);
    expect([plain, gzip, br].map((answer) => answer.headers['content-encoding'])).toEqual([undefined, 'gzip', 'br']);
    expect(plain.headers.vary).toContain('accept-encoding');
    // Times since are the only thing that may differ between two requests.
    const text = (body: string) => body.replace(/\d[\d.]* (s|min|h|d) ago/g, 'ago');
    expect(text(gunzipSync(gzip.rawPayload).toString())).toBe(text(plain.body));
    expect(text(brotliDecompressSync(br.rawPayload).toString())).toBe(text(plain.body));
    expect(Number(gzip.headers['content-length'])).toBe(gzip.rawPayload.length);
  });

  it('is none for ranges, which are of the bytes as they are', async () => {
    const url = `/pairs/${lab.ids.pairs.regression}/base.matrix.json`;
    const headers = { 'accept-encoding': 'gzip', range: 'bytes=0-4999' };
    const answer = await lab.app.inject({ url, headers });
    expect([answer.statusCode, answer.headers['content-encoding'], answer.rawPayload.length]).toEqual([
      206,
      undefined,
      5000,
    ]);
  });
});
