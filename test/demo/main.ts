import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { cacheDir, homeDir } from '@kdelta/home';
import { type Bot, freePort, startBot } from './bot.ts';
import { type Catcher, catchMail } from './catcher.ts';
import { type Check, checkFound, checkQuiet } from './checks.ts';
import { type Dashboard, openDashboard } from './dashboard.ts';
import { checkInBrowser } from './inBrowser.ts';
import { type BaseTree, cloneBase, makeBaseTree, type Planted, plantCommits, pushCommit } from './makeTree.ts';
import { narrator, type Say, sayer } from './narrate.ts';

/*
 * The demo: a kernel tree with a dozen commits, one of which makes page faults slower; kdelta, started as anybody would
 * start it, has to find it and mail its author. Only this process knows the answer; the bot sees a git tree, its
 * configuration and an SMTP server.
 */

const tree = 'demo';
const list = 'linux-mm@example.org';
/** Nothing here takes this long; a bot that hangs must not hang the demo. */
const limitMs = 30 * 60_000;

interface Options {
  seed: string;
  quiet: boolean;
  keep: boolean;
  /** 24 commits, one that panics, the culprit on a merged topic branch; the dead commits are pushed as heads of their own first. */
  hard: boolean;
  host: string;
  /** Percent by which the culprit slows page faults; drawn from the seed where not said. */
  slowdown: number | undefined;
}

process.exitCode = await main();

async function main(): Promise<number> {
  const options = readOptions();
  if (!options) return 2;
  const say = sayer(Date.now());
  say(`seed ${options.seed}${options.quiet ? ', nothing planted' : ''}  (npm run demo -- --seed ${options.seed})`);
  const dir = await mkdtemp(join(tmpdir(), 'kdelta-demo-'));
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  let base: BaseTree | undefined;
  let bot: Bot | undefined;
  let catcher: Catcher | undefined;
  let found = false;
  try {
    base = await makeBaseTree({ cacheDir: cacheDir(), progress: say, signal: stop.signal });
    const { planted, origin, work } = await plant(dir, base, options);
    say(`tree: ${base.source} and ${planted.commits.length} commits`);
    catcher = await catchMail();
    const port = await freePort();
    const config = join(dir, 'kdelta.yaml');
    await writeFile(config, configuration(origin, base, port, catcher.url, options.host));
    bot = await startBot(dir, config, port);
    const board = openDashboard(bot.url);
    await untilUp(board, bot, stop.signal);
    say(`dashboard: ${bot.url}`);

    if (options.hard) await pushDead(say, board, bot, planted, { work, origin }, stop.signal);
    await pushCommit(work, planted.head, origin);
    await board.poke(tree);
    say(`pushed ${planted.commits.length} commits, head ${planted.head.slice(0, 10)}`);
    await follow(say, board, bot, planted, catcher, options, stop.signal);
    const checks = options.quiet
      ? await checkQuiet(board, catcher.mails)
      : await checkFound(board, planted, catcher.mails, list);
    checks.push(...(await checkInBrowser(bot.url, say)));
    if (!options.quiet) printMail(catcher, planted);
    const failed = report(say, checks, planted);
    found = failed === 0;
    if (options.keep && !stop.signal.aborted) {
      say(`the dashboard stays at ${bot.url}; Ctrl-C ends it`);
      await sleep(2 ** 31 - 1, undefined, { signal: stop.signal }).catch(() => {});
    }
    return failed ? 1 : 0;
  } catch (error) {
    say(stop.signal.aborted ? 'interrupted' : `the demo failed: ${(error as Error).message}`);
    if (bot && !stop.signal.aborted) process.stdout.write(`\nThe bot's last words:\n${bot.tail()}\n`);
    return stop.signal.aborted ? 3 : 1;
  } finally {
    await bot?.stop();
    await catcher?.close();
    await base?.hold.release();
    if (!found) await keepLog(say, dir);
    await rm(dir, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
  }
}

/** The bot's log outlives a demo that went wrong. */
async function keepLog(say: Say, dir: string): Promise<void> {
  const to = join(homeDir(), 'test-results', 'demo.log');
  await mkdir(join(homeDir(), 'test-results'), { recursive: true });
  const copied = await copyFile(join(dir, 'kdelta.log'), to).then(
    () => true,
    () => false,
  );
  if (copied) say(`the bot's log: ${to}`);
}

function readOptions(): Options | null {
  try {
    const { values } = parseArgs({
      options: {
        seed: { type: 'string' },
        null: { type: 'boolean' },
        keep: { type: 'boolean' },
        hard: { type: 'boolean' },
        host: { type: 'string' },
        slowdown: { type: 'string' },
      },
    });
    const seed = values.seed ?? String(Date.now() % 1_000_000);
    const slowdown = values.slowdown === undefined ? undefined : Number(values.slowdown);
    if (slowdown !== undefined && !(slowdown > 0 && slowdown < 95))
      throw new Error('--slowdown is a percentage below 95');
    return {
      seed,
      quiet: values.null ?? false,
      keep: values.keep ?? false,
      hard: values.hard ?? false,
      host: values.host ?? 'qemu-icount',
      slowdown,
    };
  } catch (error) {
    process.stderr.write(
      `KD_USAGE: ${(error as Error).message}; npm run demo -- [--seed N] [--null] [--hard] [--host NAME] [--slowdown PCT] [--keep]\n`,
    );
    return null;
  }
}

/** The tree that is watched, with the base only, and a clone in which the commits wait to be pushed. */
async function plant(dir: string, base: BaseTree, options: Options) {
  const origin = join(dir, 'origin.git');
  const work = join(dir, 'private', 'work.git');
  await mkdir(join(dir, 'private'), { mode: 0o700 });
  await cloneBase(base, origin);
  await cloneBase(base, work);
  const planted = await plantCommits(work, base, {
    seed: options.seed,
    culprit: !options.quiet,
    ...(options.slowdown !== undefined && { slowdownPct: options.slowdown }),
    ...(options.hard && { count: 24, panicking: true, topicBranch: !options.quiet }),
  });
  return { planted, origin, work };
}

function configuration(origin: string, base: BaseTree, port: number, smtp: string, host: string): string {
  return `url: http://127.0.0.1:${port}
listen: { host: 127.0.0.1, port: ${port} }
mail: { smtp: ${JSON.stringify(smtp)}, from: kdelta bot <kdelta@bot.example.org> }
trees:
  - name: ${tree}
    url: ${JSON.stringify(origin)}
    reference: ${JSON.stringify(base.dir)}
    branches: [master]
    baseline: ${base.tag}
    poll: 5s
    kconfig: { base: allnoconfig, fragments: [qemu-x86_64.config] }
    jobs: [${JSON.stringify(join(homeDir(), 'test', 'demo', 'pft.yaml'))}]
    hosts: [${host}]
    mail: { mode: auto, to: [author], cc: [${list}], allow: ["*@example.org"] }
`;
}

async function untilUp(board: Dashboard, bot: Bot, signal: AbortSignal): Promise<void> {
  const ended = bot.ended.then((how) => {
    throw new Error(`kdelta up ended by itself (${how})`);
  });
  const up = (async () => {
    for (let i = 0; i < 240 && !signal.aborted; i++) {
      const heads = await board.overview().then(
        (o) => o.trees.flatMap((t) => t.heads),
        () => [],
      );
      // It must have seen the tree before the push: then the push is news.
      if (heads.length) return;
      await sleep(500);
    }
    throw new Error('kdelta up did not come up in two minutes');
  })();
  await Promise.race([up, ended]);
}

/**
 * Pushes the commit that panics and the one that doesn't build, each as the head, and waits until their pairs ended with
 * the class that is right, an excerpt of the log, and a page that shows both.
 */
async function pushDead(
  say: Say,
  board: Dashboard,
  bot: Bot,
  planted: Planted,
  { work, origin }: { work: string; origin: string },
  signal: AbortSignal,
): Promise<void> {
  for (const dead of planted.commits) {
    if (dead.kind !== 'panicking' && dead.kind !== 'broken') continue;
    await pushCommit(work, dead.sha, origin);
    await board.poke(tree);
    say(`pushed ${dead.sha.slice(0, 10)} as head, which ${dead.kind === 'broken' ? "doesn't build" : 'panics'}`);
    const giveUp = Date.now() + limitMs;
    for (;;) {
      signal.throwIfAborted();
      if (Date.now() > giveUp) throw new Error(`${dead.sha}: no outcome in ${limitMs / 60_000} minutes`);
      const now = await board.overview().catch(() => null);
      const pair = now?.pairs.find((p) => p.head_sha === dead.sha);
      if (pair && ['judged', 'failed', 'cancelled'].includes(pair.state)) {
        const wanted = dead.kind === 'broken' ? 'build' : 'boot';
        const page = await board.page(`/pairs/${pair.id}`);
        const shown = page.status === 200 && page.text.includes(wanted);
        if (pair.failure?.class !== wanted || !pair.failure.excerpt || !shown)
          throw new Error(
            `pair ${pair.id}: ${pair.state}, ${JSON.stringify(pair.failure)}; expected class ${wanted} with an excerpt, on its page`,
          );
        say(`pair ${pair.id}: ${pair.state}, class ${pair.failure.class}: ${pair.failure.message.split('\n')[0]}`);
        say(`          ${bot.url}/pairs/${pair.id}: ${pair.failure.excerpt.trim().split('\n').at(-1)}`);
        break;
      }
      await sleep(1000);
    }
  }
}

/** Shows what happens until the mails have come, or with nothing planted until all pairs are judged. */
async function follow(
  say: Say,
  board: Dashboard,
  bot: Bot,
  planted: Planted,
  catcher: Catcher,
  options: Options,
  signal: AbortSignal,
): Promise<void> {
  const subjects = new Map(planted.commits.map((c) => [c.sha, c.subject]));
  const narrate = narrator(say, (sha) => (sha && subjects.get(sha)) ?? '');
  let over = '';
  void bot.ended.then((how) => {
    over = `kdelta up ended by itself (${how})`;
  });
  const giveUp = Date.now() + limitMs;
  let mails = 0;
  for (;;) {
    signal.throwIfAborted();
    if (over) throw new Error(over);
    if (Date.now() > giveUp) throw new Error(`nothing was found in ${limitMs / 60_000} minutes`);
    const [now, bisects] = await Promise.all([board.overview(), board.bisects()]).catch(() => [null, []] as const);
    if (now) narrate(now, [...bisects]);
    for (const m of catcher.mails.slice(mails)) say(`mail to ${m.to.join(', ')}: ${m.mail.subject}`);
    mails = catcher.mails.length;
    const open = now?.pairs.some((p) => !['judged', 'failed', 'cancelled'].includes(p.state)) ?? true;
    const bisecting = bisects.some((b) => !['done', 'failed', 'cancelled'].includes(b.state));
    const arrived = new Set(catcher.mails.flatMap((m) => m.to));
    if (!options.quiet && arrived.has(planted.culprit!.authorEmail) && arrived.has(list)) break;
    if (now?.pairs.some((p) => p.head_sha === planted.head) && !open && !bisecting) {
      // All is judged; give the report's mail, if there is to be one, its time.
      await sleep(10_000);
      if (options.quiet || catcher.mails.length === 0) break;
    }
    await sleep(1000);
  }
}

function printMail(catcher: Catcher, planted: Planted): void {
  const mail = catcher.mails.find((m) => m.to.includes(planted.culprit!.authorEmail));
  if (!mail) return;
  const headers = mail.raw.slice(0, mail.raw.indexOf('\r\n\r\n')).replaceAll('\r\n', '\n');
  process.stdout.write(`\n${'-'.repeat(89)}\n${headers}\n\n${mail.mail.text}${'-'.repeat(89)}\n\n`);
}

/** Prints each check; returns how many failed. */
function report(say: Say, checks: Check[], planted: Planted): number {
  if (planted.culprit) {
    say(`planted: ${planted.culprit.sha.slice(0, 10)} "${planted.culprit.subject}" by ${planted.culprit.authorEmail}`);
  }
  for (const c of checks) say(`${c.ok ? '  ok    ' : '  WRONG '}${c.what}${c.ok ? '' : `; saw: ${c.saw}`}`);
  const failed = checks.filter((c) => !c.ok).length;
  say(failed ? `${failed} of ${checks.length} checks failed` : `all ${checks.length} checks passed`);
  return failed;
}
