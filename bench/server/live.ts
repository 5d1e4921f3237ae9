import { setTimeout as sleep } from 'node:timers/promises';
import { appendEvent, type Store } from '@kdelta/store';
import { percentiles } from './ask.ts';

export interface LiveFigures {
  pages: number;
  /** Growth of the server's resident set by the open pages, and at most during the events, in MB. */
  opened: number;
  most: number;
  /** From the write of a progress or posterior to the page that shows it, in ms. */
  shown: { p50: number; p95: number; max: number; n: number };
}

const ROUNDS = 20;

/**
 * 200 open pages (50 overviews, a running boot, its pair, a running bisect), each with its event stream. Twenty times a
 * boot makes progress or a bisect's posterior moves; every page that hears of it fetches itself again, as a browser does.
 */
export async function openPages(store: Store, base: string, rss: () => Promise<number>): Promise<LiveFigures> {
  const bisect = await seed(store);
  const abort = new AbortController();
  const text = async (path: string) =>
    (await fetch(base + path, { headers: { accept: 'text/html' }, signal: abort.signal })).text();
  const kinds = [
    { path: '/', subject: '*' },
    { path: '/boots/1', subject: 'boot:1' },
    { path: '/pairs/1', subject: 'pair:1' },
    { path: `/bisects/${bisect}`, subject: `bisect:${bisect}` },
  ];
  // What the server needs to draw these pages at all is not the cost of keeping them open.
  for (let i = 0; i < 100; i++) await Promise.all(kinds.map((kind) => text(kind.path)));
  const before = await rss();

  let heard: (path: string) => void = () => {};
  const open = async (kind: (typeof kinds)[number]) => {
    await text(kind.path);
    const stream = await fetch(`${base}/api/v1/events/stream?subject=${encodeURIComponent(kind.subject)}`, {
      signal: abort.signal,
    });
    const decoder = new TextDecoder();
    void (async () => {
      for await (const chunk of stream.body!)
        if (decoder.decode(chunk as Uint8Array).includes('event: change')) heard(kind.path);
    })().catch(() => {});
  };
  for (let i = 0; i < 50; i++) await Promise.all(kinds.map(open));
  await sleep(1000);
  const opened = await rss();
  let most = opened;

  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const isBoot = round % 2 === 0;
    const share = 0.3 + round / 100;
    const mark = isBoot ? `round ${round} of the bench` : (share * 100).toFixed(1);
    // A posterior is not on the overview's list in such detail, and the boot isn't the bisect's.
    const shows = (path: string) => (isBoot ? !path.startsWith('/bisects') : path.startsWith('/bisects'));
    const expected = isBoot ? 150 : 50;
    let seen = 0;
    const started = performance.now();
    await new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`only ${seen} of ${expected} pages show "${mark}"`)), 60_000);
      heard = (path) => {
        if (!shows(path)) return;
        void text(path).then((html) => {
          if (!html.includes(mark)) return;
          times.push(performance.now() - started);
          if (++seen < expected) return;
          clearTimeout(late);
          resolve();
        }, reject);
      };
      void (isBoot ? progress(store, mark) : posterior(store, bisect, share)).catch(reject);
    });
    most = Math.max(most, await rss());
    await sleep(200);
  }
  heard = () => {};
  abort.abort();
  await store.pool.query(`update boot set state = 'done', progress = null where id = 1`);
  await store.pool.query('delete from bisect where id = $1', [bisect]);
  const mb = (bytes: number) => Math.max(0, bytes - before) / 1e6;
  return { pages: 200, opened: mb(opened), most: mb(most), shown: { ...percentiles(times), n: times.length } };
}

async function seed(store: Store): Promise<number> {
  await store.pool.query(`update boot set state = 'running', progress = '{"phase": "bench"}' where id = 1`);
  const { rows } = await store.pool.query<{ id: number }>(
    `insert into bisect (tree_id, good_sha, bad_sha, testcase_id, metric_id, state)
     select 1, g.sha, b.sha, 1, 1, 'running' from kernel g, kernel b where g.id = 1 and b.id = 16 returning id`,
  );
  return rows[0]!.id;
}

async function progress(store: Store, note: string): Promise<void> {
  const now = { phase: 'bench', fraction: 0.5, note };
  await store.pool.query('update boot set progress = $1 where id = 1', [JSON.stringify(now)]);
  await appendEvent(store.pool, { kind: 'boot.progress', subject: 'boot:1', data: now });
}

async function posterior(store: Store, bisect: number, share: number): Promise<void> {
  await store.pool.query(
    `update bisect set posterior = (select jsonb_object_agg(sha, case when id = 8 then $2::float8 else (1 - $2) / 14 end)
                                      from kernel where id between 2 and 16) where id = $1`,
    [bisect, share],
  );
  await appendEvent(store.pool, { kind: 'bisect.probe', subject: `bisect:${bisect}`, data: {} });
}
