import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allPages, type Lab, openLab } from './lab.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab.close());

const get = (url: string) => lab.app.inject({ url, headers: { accept: 'text/html' } });

describe('pages', () => {
  it('show their data without JavaScript', async () => {
    for (const [path, text] of allPages(lab.ids)) {
      const answer = await get(path);
      expect(answer.statusCode, path).toBe(200);
      expect(answer.body, path).toContain(text);
    }
  });

  it('carry nothing inline that the content security policy would have to allow', async () => {
    for (const [path] of allPages(lab.ids)) {
      const { body, headers } = await get(path);
      expect(headers['content-security-policy'], path).not.toContain('unsafe');
      expect(body, path).not.toMatch(/<[a-z]+[^>]*\s(style|on[a-z]+)="/i);
      expect(body.replace(/<script src="\/assets\/[\w.-]+" type="module"><\/script>/g, ''), path).not.toContain(
        '<script',
      );
    }
  });

  it('weigh at most 150 kB compressed on first load and 50 kB after', async () => {
    const html = (await get('/history')).body;
    const files = [...html.matchAll(/\/assets\/[\w.-]+/g)].map(([file]) => file);
    let assets = 0;
    for (const url of files)
      assets += (await lab.app.inject({ url, headers: { 'accept-encoding': 'br' } })).rawPayload.length;
    for (const [url] of allPages(lab.ids)) {
      const answer = await lab.app.inject({ url, headers: { accept: 'text/html', 'accept-encoding': 'gzip' } });
      expect(answer.rawPayload.length, url).toBeLessThan(50_000);
      expect(answer.rawPayload.length + assets, url).toBeLessThan(150_000);
    }
  });

  it('show hostile commit subjects and logs as text', async () => {
    const subject = await get(`/commits/${lab.ids.shas[11]}`);
    expect(subject.body).toContain('&lt;script>alert(&quot;x&quot;)&lt;/script>');
    const marks = await get(`/commits/${lab.ids.shas[12]}`);
    expect(marks.body).not.toMatch(/<h1>[^<]*\u202e/);
    const boot = await get(`/boots/${lab.ids.boots.panic}`);
    expect(boot.body).not.toContain('\u001b');
    expect(boot.body).toContain('red text of a driver');
  });

  it('keep a search in the address and answer it', async () => {
    const answer = await get(`/pairs/${lab.ids.pairs.regression}?q=throughput&sort=size&program=&verdict=`);
    expect(answer.statusCode).toBe(200);
    expect(answer.body).toMatch(/<input[^>]*name="q"[^>]*value="throughput"/);
  });

  it('say what is wrong with an address, as a page', async () => {
    for (const [path, status] of [
      ['/pairs/999999', 404],
      ['/pairs/abc', 400],
      ['/nothing/here', 404],
      ['/pairs?limit=100000', 400],
      [`/pairs/${lab.ids.pairs.regression}?page=-1`, 400],
      ['/hosts/..%2f..%2fetc', 404],
      ['/history?testcase=1;drop', 400],
    ] as const) {
      const answer = await get(path);
      expect(answer.statusCode, path).toBe(status);
      expect(answer.headers['content-type'], path).toContain('text/html');
    }
  });
});
