import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fetchMirror } from '@kdelta/git';
import { homeDir, joinServices, type Services } from '@kdelta/home';
import { startBisect } from '@kdelta/steps';
import {
  bisect,
  bisectProbe,
  boot,
  bootMatrix,
  branchHead,
  connectStore,
  kernel,
  migrateStore,
  outbox,
  pair,
  recordHead,
  type Store,
  tree,
} from '@kdelta/store';
import { eq, isNull } from 'drizzle-orm';
import { build } from 'esbuild';
import { Redis } from 'ioredis';
import { SMTPServer } from 'smtp-server';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { makeRepo, type Repo, treeConfig } from '../../packages/steps/test/front.ts';

// Workers are killed, Redis is emptied, Postgres is restarted, in the middle of a pair whose head regresses: afterwards
// everything was done once. Own Postgres and Redis, real SMTP; hosts are worker.ts's.

vi.setConfig({ testTimeout: 180_000 });

let bundle: string;
let services: Services;
let store: Store;
let state: string;
let repo: Repo;
let smtp: SMTPServer;
let mails: string[];
let workers: ChildProcess[];

beforeAll(async () => {
  bundle = join(homeDir(), 'node_modules', '.cache', `faults-${process.pid}`, 'worker.mjs');
  await build({
    entryPoints: [join(homeDir(), 'test', 'faults', 'worker.ts')],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'esm',
    plugins: [
      {
        name: 'workspace-only',
        setup(b) {
          b.onResolve({ filter: /^[^./]/ }, (args) =>
            args.path.startsWith('@kdelta/') || args.kind === 'entry-point'
              ? undefined
              : { path: args.path, external: true },
          );
        },
      },
    ],
  });
});
afterAll(() => rmSync(join(bundle, '..'), { recursive: true, force: true }));

beforeEach(async () => {
  const parent = mkdtempSync(join(tmpdir(), 'kd-faults-'));
  state = join(parent, 'state');
  mkdirSync(state);
  services = await joinServices({ state, env: {} });
  store = connectStore(services.databaseUrl);
  await migrateStore(store);
  mails = [];
  workers = [];
  smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, session, done) {
      stream.resume();
      stream.on('end', () => {
        mails.push(session.envelope.rcptTo.map((to) => to.address).join());
        done();
      });
    },
  });
  smtp.on('error', () => {});
  await new Promise<void>((ready) => smtp.listen(0, '127.0.0.1', ready));
  repo = makeRepo();
  const config = treeConfig(repo, {
    bisect: { enabled: true, budget: 20, certainty: 0.95 },
    mail: { ...treeConfig(repo).mail, mode: 'auto', allow: ['*@example.org'] },
  });
  await store.db.insert(tree).values({ name: 'demo', url: repo.dir, config });
  repo.commit('100000', 'base');
  repo.git('tag', 'base');
  repo.commit('90000', 'mm: slower');
  await fetchMirror({ dir: join(state, 'mirrors', 'demo.git'), url: repo.dir });
  await store.transact((tx) => recordHead(tx, { treeId: 1, branch: 'main', sha: repo.git('rev-parse', 'main') }));
});
afterEach(async () => {
  for (const worker of workers) worker.kill('SIGKILL');
  smtp.close();
  await store.close();
  await services.leave();
  rmSync(join(state, '..'), { recursive: true, force: true });
  repo.remove();
});

function startWorker(guestSeconds = 1): ChildProcess {
  const worker = spawn(process.execPath, [bundle], {
    env: {
      ...process.env,
      DATABASE_URL: services.databaseUrl,
      REDIS_URL: services.redisUrl,
      FAULT_STATE: state,
      FAULT_REPO: repo.dir,
      FAULT_GUEST_SECONDS: String(guestSeconds),
      FAULT_SMTP: `smtp://127.0.0.1:${(smtp.server.address() as { port: number }).port}`,
    },
    stdio: 'inherit',
  });
  workers.push(worker);
  return worker;
}

const witness = () => {
  try {
    return readFileSync(join(state, 'witness'), 'utf8').trim().split('\n');
  } catch {
    return [];
  }
};

async function until(ready: () => Promise<boolean> | boolean, what: string, seconds = 120): Promise<void> {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(100)) if (await ready()) return;
  const log = readFileSync(join(state, 'worker.log'), 'utf8').split('\n').slice(-15).join('\n');
  throw new Error(`not in ${seconds} s: ${what}\n${log}`);
}

/** The pair is judged, its report is mailed, and all of it once. */
async function expectOneOfEach(): Promise<void> {
  const ended = ['sent', 'unknown'];
  await until(
    // The restarted Postgres may cut off this very query: then it is asked again.
    async () => (await store.transact((tx) => tx.select().from(outbox))).some((m) => ended.includes(m.state)),
    'the mail is sent',
  );
  await sleep(2_000);
  const [row] = await store.db.select().from(pair);
  expect(row).toMatchObject({ state: 'judged', verdict: 'regression' });
  const boots = await store.db.select().from(boot);
  expect(boots.filter((b) => b.state === 'done')).toHaveLength(6);
  expect(boots.filter((b) => b.state !== 'done')).toEqual([]);
  expect(await store.db.select().from(bootMatrix)).toHaveLength(6);
  const tokens = new Set(boots.map((b) => b.token));
  expect(witness().filter((token) => tokens.has(token))).toHaveLength(6);
  expect(witness()).toHaveLength(6);
  // Cut off between SMTP's last word and ours, a mail is `unknown`: not sent again, a person decides.
  const [mail] = await store.db.select().from(outbox);
  if (mail!.state === 'sent') expect(mails).toEqual(['a@example.org']);
  else expect(mails.length).toBeLessThanOrEqual(1);
}

test('a worker killed in the middle of a boot: the next one takes the same boot over, and nothing happens twice', async () => {
  const first = startWorker();
  await until(() => witness().length === 3, 'the third boot has begun');
  first.kill('SIGKILL');
  startWorker();
  await expectOneOfEach();
  const boots = await store.db.select().from(boot);
  expect(boots.map((b) => b.attempt).filter((attempt) => attempt > 0)).toEqual([1]);
});

test('workers killed again and again, at any moment: one pair, six boots, one mail', async () => {
  // Park & Miller (1988)
  let seed = 20_261_130;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  for (let kill = 0; kill < 6; kill++) {
    const worker = startWorker();
    await sleep(1_500 + 4_000 * random());
    worker.kill('SIGKILL');
  }
  startWorker();
  await expectOneOfEach();
});

test('Redis emptied in the middle, and then killed: the pair completes', async () => {
  startWorker();
  const redis = new Redis(services.redisUrl);
  redis.on('error', () => {});
  await until(() => witness().length === 2, 'the second boot has begun');
  await redis.flushall();
  await until(() => witness().length === 4, 'the fourth boot has begun');
  const info = await redis.info('server');
  process.kill(Number(/process_id:(\d+)/.exec(info)?.[1]), 'SIGKILL');
  await expectOneOfEach();
  redis.disconnect();
});

test('Postgres restarted in the middle of a boot: the worker waits for it and goes on with the same boot', async () => {
  startWorker();
  await until(() => witness().length === 2, 'the second boot has begun');
  const { rows } = await store.pool.query<{ pid: number }>(
    "select (regexp_match(pg_read_file('postmaster.pid'), '^[0-9]+'))[1]::int as pid",
  );
  // A fast shutdown, as `pg_ctl restart` does; the keeper starts it again.
  process.kill(rows[0]!.pid, 'SIGINT');
  await expectOneOfEach();
});

test('two bisects at once on one host share kernels, and a restart of everything in the middle changes neither answer', async () => {
  // The fifth commit slows one metric of the testcase and the tenth another; every kernel differs a little.
  await store.db.delete(branchHead);
  await store.db
    .update(tree)
    .set({ config: treeConfig(repo, { bisect: { enabled: false, budget: 20, certainty: 0.95 } }) });
  repo.git('reset', '--quiet', '--hard', 'base');
  const shas = Array.from({ length: 16 }, (_, i) =>
    repo.commit(`${(i < 5 ? 100_000 : 90_000) + i / 10} ${(i < 10 ? 100_000 : 80_000) + i / 10}`, `mm: change ${i}`),
  );
  await fetchMirror({ dir: join(state, 'mirrors', 'demo.git'), url: repo.dir });
  await store.transact((tx) => recordHead(tx, { treeId: 1, branch: 'main', sha: shas[15]! }));
  const first = startWorker(0.2);
  const judged = () => store.transact((tx) => tx.select().from(pair).where(isNull(pair.bisectId)));
  await until(async () => (await judged())[0]?.state === 'judged', 'the pair is judged');
  const [both] = await judged();
  const [base] = await store.db.select().from(kernel).where(eq(kernel.id, both!.baseKernelId));

  const ids: number[] = [];
  for (const metric of ['pft.faults_per_sec_per_cpu', 'pft.faults_per_sec'])
    ids.push(
      await startBisect(
        // The reconciler finds it.
        { store, enqueue: async () => {} },
        { tree: 'demo', good: base!.sha!, bad: shas[15]!, testcase: String(both!.testcaseId), metric, budget: 30 },
        'mae',
      ),
    );
  const probes = () => store.transact((tx) => tx.select().from(bisectProbe));
  await until(async () => {
    const begun = (await probes()).map((p) => p.bisectId);
    return ids.every((id) => begun.includes(id)) && begun.length > 2;
  }, 'both bisects have begun');
  const { rows } = await store.pool.query<{ pid: number }>(
    "select (regexp_match(pg_read_file('postmaster.pid'), '^[0-9]+'))[1]::int as pid",
  );
  const redis = new Redis(services.redisUrl);
  redis.on('error', () => {});
  const info = await redis.info('server');
  first.kill('SIGKILL');
  process.kill(Number(/process_id:(\d+)/.exec(info)?.[1]), 'SIGKILL');
  process.kill(rows[0]!.pid, 'SIGINT');
  redis.disconnect();
  startWorker(0.2);

  const bisects = () => store.transact((tx) => tx.select().from(bisect).orderBy(bisect.id));
  await until(
    async () => (await bisects()).every((b) => b.state === 'done' || b.state === 'failed'),
    'both have ended',
  );
  expect((await bisects()).map((b) => [b.state, b.culpritSha])).toEqual([
    ['done', shas[5]],
    ['done', shas[10]],
  ]);
  // A kernel that both looked at was built once, and what one has booted the other need not.
  const [one, other] = ids;
  const all = await probes();
  const kernelsOf = (id: number | undefined) => new Set(all.filter((p) => p.bisectId === id).map((p) => p.kernelId));
  const seen = await store.db.select().from(kernel);
  expect(new Set(seen.map((k) => k.sha)).size).toBe(seen.length);
  const ofOther = kernelsOf(other);
  expect([...kernelsOf(one)].filter((id) => ofOther.has(id)).length).toBeGreaterThan(0);
  for (const b of await bisects()) {
    const { boots, ownBoots } = b.result as { boots: number; ownBoots: number };
    expect(ownBoots).toBeLessThan(boots);
  }
  // Nothing was run twice, nothing is left over.
  const boots = await store.db.select().from(boot);
  expect(boots.filter((b) => b.state !== 'done')).toEqual([]);
  expect(new Set(witness()).size).toBe(witness().length);
  expect(witness().length).toBe(boots.length);
});
