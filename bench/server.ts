/**
 * How fast the server is, on the machine at hand: `npm run bench:server`. Fills a database with 20,000 boots × 5,000
 * metrics (kept between runs), starts the server as a process of its own and asks it with autocannon. Prints the table
 * that stands in docs/server-speed.md. `--pairs N --metrics N` make a smaller one.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { homeDir, joinServices } from '@kdelta/home';
import { connectStore, localArtifacts, migrateStore } from '@kdelta/store';
import autocannon from 'autocannon';
import pg from 'pg';
import pino from 'pino';
import { type Filled, fill } from './server/fill.ts';

const option = (name: string, otherwise: number) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : Number(process.argv[at + 1]);
};
const say = (text: string) => process.stderr.write(`${text}\n`);

if (process.argv[2] === 'serve') await serve(process.argv[3]!);
else await bench();

async function serve(url: string): Promise<void> {
  const { startServer } = await import('@kdelta/server');
  const store = connectStore(url);
  const app = await startServer({
    config: {
      file: 'kdelta.yaml',
      url: 'http://127.0.0.1',
      listen: { host: '127.0.0.1', port: 0 },
      mail: null,
      reading: 'open',
      trees: [],
    },
    store,
    artifacts: localArtifacts(join(homeDir(), '.kdelta', 'bench', 'artifacts')),
    log: pino({ level: 'error' }) as never,
    limits: false,
  });
  process.send?.({ port: (app.server.address() as { port: number }).port });
  process.on('message', () => process.send?.({ rss: process.memoryUsage().rss }));
}

async function bench(): Promise<void> {
  const size = { pairs: option('pairs', 2000), metrics: option('metrics', 5000) };
  const state = join(homeDir(), '.kdelta', 'bench');
  mkdirSync(state, { recursive: true });
  const services = await joinServices({ state, env: {}, grace: 5 });
  const name = `bench_${size.pairs}_${size.metrics}`;
  const url = new URL(services.databaseUrl);
  url.pathname = `/${name}`;
  const admin = new pg.Client({ connectionString: services.databaseUrl });
  await admin.connect();
  const { rowCount } = await admin.query('select 1 from pg_database where datname = $1', [name]);
  let filled: Filled = { pairs: size.pairs, testcase: 1, kpi: 'bench.throughput', other: 'proc-vmstat.counter_1000' };
  if (!rowCount) {
    say(`filling ${name}: ${size.pairs * 10} boots × ${size.metrics} metrics`);
    await admin.query(`drop database if exists ${name}_new with (force)`);
    await admin.query(`create database ${name}_new`);
    const fresh = new URL(url);
    fresh.pathname = `/${name}_new`;
    const store = connectStore(fresh.href);
    await migrateStore(store);
    filled = await fill(store, size, say);
    await store.close();
    await admin.query(`alter database ${name}_new rename to ${name}`);
  }
  await admin.end();

  const server = spawn(process.execPath, [fileURLToPath(import.meta.url), 'serve', url.href], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const { port } = await answer<{ port: number }>(server);
  const base = `http://127.0.0.1:${port}`;
  const pages = Array.from({ length: Math.min(size.pairs, 2000) }, (_, i) => `/pairs/${i + 1}`);
  const history = (metric: string) => [
    `/api/v1/history?testcase=${filled.testcase}&metric=${encodeURIComponent(metric)}`,
  ];
  const line = async (what: string, paths: string[], connections: number, amount: number, wanted: string) => {
    const result = await ask(base, paths, connections, amount);
    say(
      `${what}: p50 ${result.p50} ms, p95 ${result.p95} ms, ${result.perSecond.toFixed(0)}/s${result.bad ? `, ${result.bad} failed` : ''}`,
    );
    return `| ${what} | ${connections} | ${amount} | ${result.p50} | ${result.p95} | ${result.perSecond.toFixed(0)} | ${wanted} |`;
  };
  await ask(base, pages.slice(0, 50), 5, 100);
  const rows = [
    await line('pair page', pages, 1, 500, 'p95 ≤ 60 ms'),
    await line('pair page', pages, 50, Math.max(2000, pages.length), '≥ 100/s'),
    await line(
      'pair page with a search',
      pages.map((page) => `${page}?q=vmstat&sort=size`),
      1,
      200,
      '',
    ),
    await line('overview', ['/'], 1, 300, 'p95 ≤ 30 ms'),
    await line('history of a KPI, 10,000 boots', history(filled.kpi), 1, 100, 'p95 ≤ 60 ms'),
    await line('history of any other metric, blocks', history(filled.other), 1, 100, 'p95 ≤ 60 ms'),
    await line('history page of a KPI', [`/history?testcase=${filled.testcase}&metric=${filled.kpi}`], 1, 50, ''),
    await line('bisect list', ['/bisects'], 1, 100, ''),
  ];
  const live = await openPages(server, base, 200);
  server.kill();
  await services.leave();
  process.stdout.write(
    `${cpus().length} cores, ${cpus()[0]?.model}, Node ${process.version}; server, Postgres and autocannon on the same cores\n\n`,
  );
  process.stdout.write(
    '| what | at a time | requests | p50 ms | p95 ms | per second | wanted |\n|---|---:|---:|---:|---:|---:|---|\n',
  );
  process.stdout.write(
    `${rows.join('\n')}\n\n200 open live pages take ${live.toFixed(1)} MB of the server (wanted: < 100 MB)\n`,
  );
  process.exit(0);
}

async function ask(url: string, paths: string[], connections: number, amount: number) {
  const times: number[] = [];
  let next = 0;
  const headers = { accept: 'text/html', 'accept-encoding': 'gzip' };
  const started = performance.now();
  const instance = autocannon({
    url,
    connections,
    amount,
    timeout: 60,
    setupClient(client) {
      const turn = () => client.setRequest({ method: 'GET', path: paths[next++ % paths.length]!, headers });
      turn();
      client.on('response', turn);
    },
  });
  instance.on('response', (_client, _status, _bytes, ms) => times.push(ms));
  const result = await instance;
  const seconds = (performance.now() - started) / 1000;
  times.sort((a, b) => a - b);
  const at = (share: number) =>
    Number((times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0).toFixed(1));
  return { p50: at(0.5), p95: at(0.95), perSecond: times.length / seconds, bad: result.non2xx + result.errors };
}

/** Opens event streams, as open pages do, and returns by how many MB the server has grown. */
async function openPages(server: ChildProcess, base: string, n: number): Promise<number> {
  const rss = async () => {
    server.send('rss');
    return (await answer<{ rss: number }>(server)).rss;
  };
  await sleep(500);
  const before = await rss();
  const abort = new AbortController();
  await Promise.all(Array.from({ length: n }, () => fetch(`${base}/api/v1/events/stream`, { signal: abort.signal })));
  await sleep(500);
  const after = await rss();
  abort.abort();
  return Math.max(0, after - before) / 1e6;
}

function answer<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(message as T));
    child.once('exit', (code) => reject(new Error(`the server ended with status ${code}`)));
  });
}
