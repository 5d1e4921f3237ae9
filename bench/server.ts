/**
 * How fast the server is, on the machine at hand: `npm run bench:server`. Fills a database with 20,000 boots × 5,000
 * metrics (kept between runs), starts the server as a process of its own and asks it with autocannon. Prints the table
 * that stands in docs/server-speed.md. `--pairs N --metrics N` make a smaller one; `--live` measures the open
 * pages only.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { homeDir, joinServices } from '@kdelta/home';
import { connectStore, localArtifacts, migrateStore } from '@kdelta/store';
import pg from 'pg';
import pino from 'pino';
import { ask, cpuOf } from './server/ask.ts';
import { type Filled, fill } from './server/fill.ts';
import { openPages } from './server/live.ts';

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
  process.on('message', () => {
    // What has been left over is no cost: only what is still held after collecting counts.
    (globalThis as { gc?: () => void }).gc?.();
    process.send?.({ rss: process.memoryUsage().rss });
  });
}

async function bench(): Promise<void> {
  const size = { pairs: option('pairs', 2000), metrics: option('metrics', 5000) };
  const state = join(homeDir(), '.kdelta', 'bench');
  mkdirSync(state, { recursive: true });
  const services = await joinServices({ state, env: {}, grace: 5 });
  const name = `bench2_${size.pairs}_${size.metrics}`;
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

  const { server, base } = await startOwn(url.href);
  const pages = Array.from({ length: Math.min(size.pairs, 2000) }, (_, i) => `/pairs/${i + 1}`);
  const history = (metric: string) => [
    `/api/v1/history?testcase=${filled.testcase}&metric=${encodeURIComponent(metric)}`,
  ];
  const store = connectStore(url.href, { maxConnections: 2 });
  await migrateStore(store);
  const postgres = async () =>
    cpuOf(
      (
        await store.pool.query<{ pid: number }>(
          `select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
        )
      ).rows.map((row) => row.pid),
    );
  const line = async (what: string, paths: string[], connections: number, amount: number, wanted: string) => {
    // The pool has its connections before the clock runs: a new one is a new process, whose time would be missed.
    await ask(base, paths, 10, 20);
    const [own, database] = [cpuOf([server.pid!]), await postgres()];
    const result = await ask(base, paths, connections, amount);
    const per = (now: number | null, before: number | null) =>
      now === null || before === null ? '' : Math.max(0, (now - before) / amount).toFixed(1);
    const cpu = [per(cpuOf([server.pid!]), own), per(await postgres(), database)];
    const perSecond = result.perSecond.toFixed(0);
    say(
      `${what}: p50 ${result.p50} ms, p95 ${result.p95} ms, ${perSecond}/s, ${result.kB} kB, CPU ${cpu.join(' + ')} ms${result.bad ? `, ${result.bad} failed` : ''}`,
    );
    return `| ${[what, connections, amount, result.p50, result.p95, perSecond, result.kB, ...cpu, wanted].join(' | ')} |`;
  };
  await ask(base, pages.slice(0, 50), 5, 100);
  const table = async () => [
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
  const rows = process.argv.includes('--live') ? [] : await table();
  server.kill();
  // A fresh one: memory that the requests above have left behind would hide what open pages take.
  const other = await startOwn(url.href);
  const live = await openPages(store, other.base, async () => {
    other.server.send('rss');
    return (await answer<{ rss: number }>(other.server)).rss;
  });
  other.server.kill();
  await store.close();
  await services.leave();
  process.stdout.write(
    `${cpus().length} cores, ${cpus()[0]?.model}, Node ${process.version}; server, Postgres and autocannon on the same cores\n\n`,
  );
  process.stdout.write(
    '| what | at a time | requests | p50 ms | p95 ms | per second | kB | CPU ms, server | CPU ms, Postgres | wanted |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---|\n',
  );
  process.stdout.write(
    `${rows.join('\n')}\n\n${live.pages} open live pages take ${live.opened.toFixed(1)} MB of the server, ${live.most.toFixed(1)} MB at most while events come (wanted: < 100 MB).\n` +
      `From the write of a boot's progress or a bisect's posterior to the page that shows it, ${live.shown.n} times, 50 to 150 pages at once: p50 ${live.shown.p50} ms, p95 ${live.shown.p95} ms, max ${live.shown.max} ms (wanted: < 1 s)\n`,
  );
  process.exit(0);
}

/** A server as a process of its own. */
async function startOwn(url: string): Promise<{ server: ChildProcess; base: string }> {
  const server = spawn(process.execPath, ['--expose-gc', fileURLToPath(import.meta.url), 'serve', url], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const { port } = await answer<{ port: number }>(server);
  return { server, base: `http://127.0.0.1:${port}` };
}

function answer<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const ended = (status: number | null) => reject(new Error(`the server ended with status ${status}`));
    child.once('exit', ended);
    child.once('message', (message) => {
      child.off('exit', ended);
      resolve(message as T);
    });
  });
}
