import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { cacheDir, homeDir, joinServices } from '@kdelta/home';
import { cloneBase, makeBaseTree, plantCommits } from '../test/demo/makeTree.ts';

/**
 * npm run bench:git-bisect -- --seed N [--host qemu-icount] [--slowdown PCT] [--boots 3]: what `npm run demo -- --hard` gives the bot, given to
 * `git bisect run` with that many boots per step: both ends are booted, the middle of their means is the threshold. Kernels
 * are built and booted by `kdelta run`. Prints each step and, at the end, boots, seconds, and whether the answer is right.
 *
 * Kernels of the cache cost no time here: name a cache of its own (XDG_CACHE_HOME) to count them.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    host: { type: 'string', default: 'qemu-icount' },
    slowdown: { type: 'string' },
    boots: { type: 'string', default: '3' },
  },
});
const run = promisify(execFile);
const kpi = 'pft.faults_per_sec_per_cpu';
const stop = new AbortController();
const dir = await mkdtemp(join(tmpdir(), 'kdelta-git-bisect-'));
const env = { ...process.env, KDELTA_STATE: join(dir, 'state') };
const base = await makeBaseTree({ cacheDir: cacheDir(), progress: say, signal: stop.signal });
const services = await joinServices({ state: env.KDELTA_STATE, env });
try {
  const repo = join(dir, 'work.git');
  await cloneBase(base, repo);
  const planted = await plantCommits(repo, base, {
    seed: values.seed,
    culprit: true,
    count: 24,
    panicking: true,
    topicBranch: true,
    ...(values.slowdown && { slowdownPct: Number(values.slowdown) }),
  });
  const step = join(dir, 'step.sh');
  const job = join(homeDir(), 'test', 'demo', 'pft.yaml');
  const kdelta = join(homeDir(), 'dist', 'kdelta.mjs');
  const arguments_ = (sha: string) =>
    [
      kdelta,
      'run',
      job,
      '--host',
      values.host,
      '--kernel',
      `${repo}:${sha}`,
      '--boots',
      values.boots,
      '--json',
    ] as const;
  const boot = async (sha: string) => {
    const { stdout } = await run(process.execPath, [...arguments_(sha)], { env, maxBuffer: 1e9 });
    return meanOf(stdout);
  };
  const started = Date.now();
  const good = await boot(base.sha);
  const bad = await boot(planted.head);
  const threshold = (good + bad) / 2;
  const seconds = (from: number) => ((Date.now() - from) / 1000).toFixed(0);
  say(`ends: ${good.toFixed(0)} and ${bad.toFixed(0)}, threshold ${threshold.toFixed(0)}, ${seconds(started)} s`);

  // 125: skip (no kernel, or no numbers); 1: below the threshold, as bad is.
  const judge = `const fs=require('fs');const m=JSON.parse(fs.readFileSync(0,'utf8')).matrix[${JSON.stringify(kpi)}]?.filter(Number.isFinite)??[];
if(!m.length)process.exit(125);const mean=m.reduce((a,b)=>a+b)/m.length;console.error(m.join(' '));process.exit(mean<${threshold}?1:0)`;
  await writeFile(join(dir, 'judge.cjs'), judge);
  await writeFile(
    step,
    `sha=$(git rev-parse BISECT_HEAD)\n${process.execPath} ${arguments_('$sha')
      .map((a) => `"${a}"`)
      .join(' ')} >${dir}/out 2>${dir}/err\n` +
      `code=$?; [ $code -ge 3 ] && exit 200\n[ $code -ne 0 ] && { echo "$sha: skipped" >&2; exit 125; }\n` +
      `${process.execPath} ${join(dir, 'judge.cjs')} <${dir}/out\n`,
  );
  const searching = Date.now();
  const git = (...args: string[]) => run('git', ['-C', repo, ...args], { env });
  await git('bisect', 'start', '--no-checkout', planted.head, base.sha);
  const log = await new Promise<string>((resolve) => {
    let text = '';
    const child = spawn('git', ['-C', repo, 'bisect', 'run', 'sh', step], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data: Buffer) => {
        text += data;
        process.stdout.write(data);
      });
    child.once('exit', () => resolve(text));
  });
  const answer = /([0-9a-f]{40}) is the first bad commit/.exec(log)?.[1] ?? null;
  const steps = (log.match(/^\d+(\.\d+)?( \d+(\.\d+)?)*$/gm) ?? []).length;
  const skipped = (log.match(/: skipped$/gm) ?? []).length;
  say(
    `answer: ${answer ?? 'none'}; planted: ${planted.culprit!.sha}: ${answer === planted.culprit!.sha ? 'right' : 'WRONG'}`,
  );
  say(
    `${steps} steps of ${values.boots} boots, ${skipped} skipped; search ${seconds(searching)} s, with the ends ${seconds(started)} s`,
  );
} finally {
  await services.leave();
  await base.hold.release();
  await rm(dir, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
}

function meanOf(json: string): number {
  const found = (JSON.parse(json) as { matrix: Record<string, number[]> }).matrix[kpi]!.filter(Number.isFinite);
  return found.reduce((a, b) => a + b, 0) / found.length;
}

function say(text: string): void {
  process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
}
