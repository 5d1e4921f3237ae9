import { setTimeout as sleep } from 'node:timers/promises';
import { appendEvent } from '@kdelta/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
async function follow(subject: string) {
  const abort = new AbortController();
  const answer = await fetch(`${url}/api/v1/events/stream?subject=${encodeURIComponent(subject)}`, {
    signal: abort.signal,
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
  it('are told of a boot’s progress as their own, as their pair’s and on the overview, within a second', async () => {
    const { boots, pairs } = lab.ids;
    const pages = await Promise.all(['*', `boot:${boots.running}`, `pair:${pairs.running}`, 'boots'].map(follow));
    const other = await follow('pair:999');
    expect(pages[0]!.answer.headers.get('content-type')).toBe('text/event-stream');
    await until(() => pages.every((page) => page.text().includes('kdelta')), 1000);
    await appendEvent(lab.store.pool, {
      kind: 'boot.progress',
      subject: `boot:${boots.running}`,
      data: { fraction: 0.5 },
    });
    expect(await until(() => pages.every((page) => page.text().includes('boot.progress')), 1000)).toBe(true);
    expect(other.text()).not.toContain('boot.progress');
    await Promise.all([...pages, other].map((page) => page.close()));
  });
});
