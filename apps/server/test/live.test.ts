import { setTimeout as sleep } from 'node:timers/promises';
import { appendEvent, notifyProgress } from '@kdelta/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shared } from '../src/pages/html.ts';
import { type Lab, openLab } from './lab.ts';

let lab: Lab;
let url: string;
beforeAll(async () => {
  lab = await openLab({ listen: true });
  const address = lab.app.server.address() as { port: number };
  url = `http://127.0.0.1:${address.port}`;
});
afterAll(() => lab.close());

/** Opens the stream and collects what comes. */
async function follow(subject: string, query: Record<string, string> = {}, headers: Record<string, string> = {}) {
  const abort = new AbortController();
  const answer = await fetch(`${url}/api/v1/events/stream?${new URLSearchParams({ subject, ...query })}`, {
    signal: abort.signal,
    headers,
  });
  let text = '';
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of answer.body!) text += decoder.decode(chunk, { stream: true });
  })().catch(() => {});
  return {
    answer,
    text: () => text,
    async close() {
      abort.abort();
      await reading;
    },
  };
}

const until = async (what: () => boolean, ms: number) => {
  const end = Date.now() + ms;
  while (!what() && Date.now() < end) await sleep(10);
  return what();
};

describe('live pages', () => {
  // Within a second: bench/server.ts measures it; a test on a loaded machine waits longer.
  it('are told of a boot’s progress as their own, as their pair’s and on the overview', async () => {
    const { boots, pairs } = lab.ids;
    const pages = await Promise.all(
      ['*', `boot:${boots.running}`, `pair:${pairs.running}`, 'boots'].map((s) => follow(s)),
    );
    const other = await follow('pair:999');
    expect(pages[0]!.answer.headers.get('content-type')).toBe('text/event-stream');
    await until(() => pages.every((page) => page.text().includes('kdelta')), 10_000);
    await appendEvent(lab.store.pool, {
      kind: 'boot.progress',
      subject: `boot:${boots.running}`,
      data: { fraction: 0.5 },
    });
    expect(await until(() => pages.every((page) => page.text().includes('boot.progress')), 10_000)).toBe(true);
    expect(other.text()).not.toContain('boot.progress');
    await Promise.all([...pages, other].map((page) => page.close()));
  });

  it('show a bisect’s new posterior when they fetch themselves after the event', async () => {
    const id = lab.ids.bisects.running;
    const page = () => fetch(`${url}/bisects/${id}`, { headers: { accept: 'text/html' } }).then((got) => got.text());
    const open = await follow(`bisect:${id}`);
    await until(() => open.text().includes('kdelta'), 10_000);
    const before = await page();
    const { rows } = await lab.store.pool.query('select posterior from bisect where id = $1', [id]);
    const shas = Object.keys(rows[0].posterior);
    const moved = Object.fromEntries(shas.map((sha, i) => [sha, i === 0 ? 0.9876 : 0.0124 / (shas.length - 1)]));
    await lab.store.pool.query('update bisect set posterior = $2 where id = $1', [id, JSON.stringify(moved)]);
    await appendEvent(lab.store.pool, { kind: 'bisect.probe', subject: `bisect:${id}`, data: {} });
    expect(await until(() => open.text().includes('bisect.probe'), 10_000)).toBe(true);
    const after = await page();
    expect([before.includes('98.8'), after.includes('98.8')]).toEqual([false, true]);
    await open.close();
  });

  it('that were drawn or cut off before an event hear at once that they missed one', async () => {
    const page = await fetch(`${url}/boots/${lab.ids.boots.running}`, { headers: { accept: 'text/html' } });
    const since = /data-since="(\d+)"/.exec(await page.text())![1]!;
    const uptodate = await follow('*', { since });
    await appendEvent(lab.store.pool, { kind: 'boot.progress', subject: `boot:${lab.ids.boots.running}` });
    await until(() => uptodate.text().includes('boot.progress'), 10_000);
    const late = await follow('*', { since });
    const again = await follow('*', { since: '999999999' }, { 'last-event-id': since });
    expect(await until(() => [late, again].every((one) => one.text().includes('"missed"')), 10_000)).toBe(true);
    expect(uptodate.text()).not.toContain('"missed"');
    await Promise.all([uptodate, late, again].map((one) => one.close()));
  });

  it('of one boot move with its progress, those that show everything only with its phases', async () => {
    const subject = `boot:${lab.ids.boots.running}`;
    const [own, pair, all] = await Promise.all([subject, `pair:${lab.ids.pairs.running}`, '*'].map((s) => follow(s)));
    await notifyProgress(lab.store.db, subject);
    await appendEvent(lab.store.pool, { kind: 'later', subject });
    expect(await until(() => [own, pair, all].every((one) => one!.text().includes('later')), 10_000)).toBe(true);
    expect([own, pair, all].map((one) => one!.text().includes('boot.progress'))).toEqual([true, true, false]);
    await Promise.all([own, pair, all].map((one) => one!.close()));
  });

  it('of strangers are drawn once for all who ask in the same moment, and anew after each event', async () => {
    let drawn = 0;
    let changes = 0;
    const ctx = { changes: () => changes } as never;
    const draw = async () => {
      const n = ++drawn;
      await sleep(20);
      return `drawing ${n}`;
    };
    const ask = (path: string, person: object | null = null) => shared(ctx, { url: path, person } as never, draw);
    const first = Promise.all([ask('/'), ask('/'), ask('/?x=1'), ask('/', { name: 'someone' })]);
    changes++;
    expect(await ask('/')).toBe('drawing 4');
    expect(await first).toEqual(['drawing 1', 'drawing 1', 'drawing 2', 'drawing 3']);
    expect(await ask('/')).toBe('drawing 5');
  });
});
