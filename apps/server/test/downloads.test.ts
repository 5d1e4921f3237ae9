import { parseCsv, parseMatrix } from '@kdelta/matrix';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseRange } from '../src/send.ts';
import { type Lab, openLab } from './lab.ts';

let lab: Lab;
let sha: string;
beforeAll(async () => {
  lab = await openLab();
  sha = lab.ids.shas.at(-1)!;
});
afterAll(() => lab.close());

const get = (url: string, headers: Record<string, string> = {}) => lab.app.inject({ url, headers });
const matrixUrl = (ending: string, query = '') =>
  `/matrix/linus/${sha}/dbench-100%25-6s.${ending}?tbox_group=qemu-icount${query}`;

describe('a matrix by its stable address', () => {
  it('is one that the reader of matrices takes, with the boots that ran', async () => {
    const answer = await get(matrixUrl('json'));
    expect(answer.statusCode).toBe(200);
    const matrix = parseMatrix(answer.body, 'matrix.json');
    const judged = (await get(`/api/v1/pairs/${lab.ids.pairs.regression}`)).json();
    const head = judged.boots.head.map(String);
    const kpi = judged.deltas.find((delta: { metric: string }) => delta.metric === lab.ids.kpi);
    const row = matrix.metrics.get(lab.ids.kpi)!;
    expect(head.map((boot: string) => row[matrix.boots.indexOf(boot)])).toEqual(kpi.head.values);
  });

  it('holds no null with ?lkp=1', async () => {
    const plain = (await get(matrixUrl('json'))).json();
    const lkp = (await get(matrixUrl('json', '&lkp=1'))).json();
    expect(Object.keys(lkp)).toEqual(Object.keys(plain));
    for (const [metric, values] of Object.entries(lkp) as [string, unknown[]][])
      if (metric !== 'stats_source')
        expect(
          values.every((value) => typeof value === 'number'),
          metric,
        ).toBe(true);
  });

  it('comes as CSV with the same numbers', async () => {
    const json = parseMatrix((await get(matrixUrl('json'))).body, 'm');
    const csv = parseCsv((await get(matrixUrl('csv'))).body);
    expect([...csv.metrics]).toEqual([...json.metrics]);
  });

  it('is found by a shortened commit id, and a wrong id, ending or testcase is named', async () => {
    const status = async (url: string) => (await get(url)).statusCode;
    expect(await status(`/matrix/linus/${sha.slice(0, 12)}/dbench-100%25-6s.json`)).toBe(200);
    expect(await status(`/matrix/linus/${sha}/nothing.json`)).toBe(404);
    expect(await status(`/matrix/nowhere/${sha}/dbench-100%25-6s.json`)).toBe(404);
    expect(await status(`/matrix/linus/${'0'.repeat(40)}/dbench-100%25-6s.json`)).toBe(404);
    expect((await get(`/matrix/linus/${sha}/dbench-100%25-6s.exe`)).json().code).toBe('KD_MATRIX_ENDING');
    expect(await status('/matrix/linus/..%2f..%2fetc/passwd.json')).toBe(400);
  });

  it('is not sent again to who has it, is sent in parts to who asks so, and compressed', async () => {
    const whole = await get(matrixUrl('json'));
    const etag = whole.headers.etag as string;
    expect((await get(matrixUrl('json'), { 'if-none-match': etag })).statusCode).toBe(304);
    const part = await get(matrixUrl('json'), { range: 'bytes=10-19' });
    expect([part.statusCode, part.headers['content-range'], part.body]).toEqual([
      206,
      `bytes 10-19/${whole.rawPayload.length}`,
      whole.body.slice(10, 20),
    ]);
    expect((await get(matrixUrl('json'), { range: 'bytes=-5' })).body).toBe(whole.body.slice(-5));
    expect((await get(matrixUrl('json'), { range: 'bytes=99999999-' })).statusCode).toBe(416);
    const packed = await get(matrixUrl('json'), { 'accept-encoding': 'gzip' });
    expect(packed.headers['content-encoding']).toBe('gzip');
    expect(packed.rawPayload.length).toBeLessThan(whole.rawPayload.length / 2);
  });
});

describe('a stored file', () => {
  it('is sent as it was kept, whole, as gzip and in parts', async () => {
    const url = `/files/boots/${lab.ids.boots.done}/console.log`;
    const whole = await get(url);
    expect(whole.body).toContain('Linux version 6.12.0');
    expect(whole.headers['content-type']).toContain('text/plain');
    const part = await get(url, { range: 'bytes=4-8' });
    expect([part.statusCode, part.body]).toEqual([206, whole.body.slice(4, 9)]);
    expect((await get(url, { 'accept-encoding': 'gzip' })).headers['content-encoding']).toBe('gzip');
    expect((await get(url, { 'if-none-match': whole.headers.etag as string })).statusCode).toBe(304);
  });

  it('is found by its name only: a path is no name', async () => {
    for (const name of ['..%2f..%2f..%2fetc%2fpasswd', '%2fetc%2fpasswd', 'nothing', '%00'])
      expect((await get(`/files/boots/${lab.ids.boots.done}/${name}`)).statusCode, name).toBe(404);
  });
});

describe('a range header', () => {
  // RFC 9110 §14.1.2
  it('is read as the standard says', () => {
    expect(parseRange('bytes=0-499', 10_000)).toEqual({ start: 0, end: 499 });
    expect(parseRange('bytes=9500-', 10_000)).toEqual({ start: 9500, end: 9999 });
    expect(parseRange('bytes=-500', 10_000)).toEqual({ start: 9500, end: 9999 });
    expect(parseRange('bytes=0-0', 10_000)).toEqual({ start: 0, end: 0 });
    expect(parseRange('bytes=10000-', 10_000)).toBe('bad');
    expect(parseRange('bytes=5-4', 10_000)).toBe('bad');
    expect(parseRange('lines=1-2', 10_000)).toBeNull();
  });
});
