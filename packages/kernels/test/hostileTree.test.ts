import { execFileSync } from 'node:child_process';
import { access, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BuildLimits, type BuildOutcome, buildKernel, checkSandbox } from '../src/index.ts';

/** Trees of one Makefile, whose build does what no build should: each must end as a `build` outcome with nothing else touched. */

let dir = '';
let cacheDir = '';
let repo = '';
let why: string | null = null;
let server: Server;
let visitors = 0;
let port = 0;

beforeAll(async () => {
  why = await checkSandbox().then(
    () => null,
    (error: Error) => error.message,
  );
  if (why) console.warn(`skipped: ${why}`);
  dir = await mkdtemp(join(tmpdir(), 'kdelta-hostile-'));
  cacheDir = join(dir, 'cache');
  repo = join(dir, 'repo');
  await mkdir(repo);
  git('init', '--quiet', '--initial-branch=master', '.');
  await writeFile(join(dir, 'secret'), 'canary');
  server = createServer((socket) => {
    visitors += 1;
    socket.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as { port: number }).port;
});

afterAll(async () => {
  server.close();
  await rm(dir, { recursive: true, force: true });
});

function git(...args: string[]): string {
  const identity = ['-c', 'user.name=x', '-c', 'user.email=x@example.org', '-c', 'commit.gpgsign=false'];
  return execFileSync('git', [...identity, ...args], { cwd: repo, encoding: 'utf8' }).trim();
}

/** Commits a tree whose `bzImage` target is `recipe`, and builds it. */
async function build(recipe: string[], limits: Partial<BuildLimits> = {}): Promise<BuildOutcome> {
  const lines = ['allnoconfig:', '\t@echo > $(O)/.config', 'bzImage:', ...recipe.map((line) => `\t${line}`), ''];
  await writeFile(join(repo, 'Makefile'), lines.join('\n'));
  git('add', '-A');
  git('commit', '--quiet', '--allow-empty', '-m', 'hostile');
  const kconfigDir = join(dir, 'kconfig');
  await mkdir(kconfigDir, { recursive: true });
  return await buildKernel(
    {
      kind: 'kbuild',
      tree: 'hostile',
      repo: join(repo, '.git'),
      sha: git('rev-parse', 'HEAD'),
      kconfig: { base: 'allnoconfig', fragments: [] },
    },
    { cacheDir, kconfigDir, limits: { timeMs: 60_000, ...limits } },
  );
}

function logOf(outcome: BuildOutcome): Promise<string> {
  if (outcome.kind !== 'failed' || !outcome.log)
    throw new Error(`expected a failed build with a log, got ${JSON.stringify(outcome)}`);
  expect(outcome.failureClass).toBe('build');
  return readFile(outcome.log, 'utf8');
}

/** Processes of the machine whose command line holds `text`. */
async function processesWith(text: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return lines.filter((line) => line.includes(text));
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

describe('a hostile tree', () => {
  it('reaches no network', async (context) => {
    if (why) return context.skip();
    const outcome = await build([
      `bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port}' || echo unreachable`,
      'ls /sys/class/net || echo no-sys',
      'false',
    ]);
    expect(await logOf(outcome)).toContain('unreachable');
    expect(visitors).toBe(0);
  });

  it("sees neither the environment's secrets, nor other processes, nor files outside", async (context) => {
    if (why) return context.skip();
    process.env.KDELTA_TEST_SECRET = 'canary-in-environment';
    try {
      const outcome = await build([
        'env',
        'cat /proc/*/environ | tr "\\0" "\\n"',
        `cat ${join(dir, 'secret')} /etc/shadow /etc/passwd "$$HOME"/.ssh/* /root/.bashrc; ls -la / /home /root /etc`,
        'ps -ef 2>/dev/null | wc -l || true',
        'false',
      ]);
      const log = await logOf(outcome);
      expect(log).not.toContain('canary');
      expect(log).not.toContain('root:');
      expect(log).not.toMatch(/DATABASE_URL|npm_|VITEST/);
    } finally {
      delete process.env.KDELTA_TEST_SECRET;
    }
  });

  it('writes nowhere but into its build folder', async (context) => {
    if (why) return context.skip();
    const outcome = await build([
      'touch ../escaped /src/escaped /escaped /usr/escaped /etc/escaped /input/escaped /dev/escaped /dev/shm/escaped; true',
      'echo x > Makefile || true',
      'rm -rf /src/Makefile /usr/bin/make || true',
      'false',
    ]);
    await logOf(outcome);
    const slots = await readdir(join(cacheDir, 'slots'));
    for (const slot of slots) {
      const names = await readdir(join(cacheDir, 'slots', slot));
      expect(names.sort()).toEqual(['build', 'ccache', 'index', 'input', 'src', 'state.json', 'tmp']);
      expect(await readdir(join(cacheDir, 'slots', slot, 'src'))).toEqual(['Makefile']);
    }
    for (const path of ['/escaped', '/usr/escaped', '/etc/escaped', '/dev/escaped', '/dev/shm/escaped'])
      expect(await exists(path)).toBe(false);
  });

  it('is stopped when it forks without end, and leaves no process', async (context) => {
    if (why) return context.skip();
    const outcome = await build(["bash -c 'bomb() { bomb | bomb & }; bomb; sleep 1000.25'"], { processes: 128 });
    expect(await logOf(outcome)).toBeDefined();
    expect(outcome).toMatchObject({ kind: 'failed', failureClass: 'build' });
    expect(await processesWith('1000.25')).toEqual([]);
  }, 60_000);

  it('is stopped when it prints 100 GB, of which little is kept', async (context) => {
    if (why) return context.skip();
    const outcome = await build(['head -c 100000000000 /dev/zero | tr "\\0" a'], { outputBytes: 4 * 2 ** 20 });
    expect(outcome).toMatchObject({
      kind: 'failed',
      failureClass: 'build',
      message: 'the build printed more than 4 MiB and was stopped',
    });
    expect((await stat((outcome as { log: string }).log)).size).toBeLessThan(5 * 2 ** 20);
  });

  it('is stopped when it takes longer than it may, with what it left running', async (context) => {
    if (why) return context.skip();
    const outcome = await build(['setsid sleep 1000.75 & sleep 1000.75'], { timeMs: 1500 });
    expect(outcome).toMatchObject({ kind: 'failed', failureClass: 'build' });
    expect(outcome.kind === 'failed' && outcome.message).toMatch(/took longer/);
    expect(await processesWith('1000.75')).toEqual([]);
  });

  it('is stopped when it takes more memory than it may', async (context) => {
    if (why) return context.skip();
    const hungry = 'perl -e \'$$x = "a" x 100_000_000; sleep 1000\'';
    const outcome = await build([`${hungry} & ${hungry} & ${hungry} & ${hungry} & wait`], {
      memoryBytes: 250 * 2 ** 20,
    });
    expect(outcome).toMatchObject({ kind: 'failed', failureClass: 'build' });
  });

  it('is stopped when it fills the disk', async (context) => {
    if (why) return context.skip();
    const outcome = await build(['for i in 1 2 3 4 5; do head -c 20M /dev/zero > $(O)/big$$i; done; sleep 1000'], {
      diskBytes: 50 * 2 ** 20,
    });
    expect(outcome).toMatchObject({ kind: 'failed', failureClass: 'build' });
    expect(outcome.kind === 'failed' && outcome.message).toMatch(/wrote more than/);
  });

  it('does not get a file of the machine into an artifact through a link', async (context) => {
    if (why) return context.skip();
    const outcome = await build([
      'mkdir -p $(O)/arch/x86/boot $(O)/include/config',
      `ln -sf ${join(dir, 'secret')} $(O)/arch/x86/boot/bzImage`,
      'echo 1.0 > $(O)/include/config/kernel.release; touch $(O)/vmlinux',
    ]);
    expect(outcome).toMatchObject({ kind: 'failed', failureClass: 'build' });
    expect(outcome.kind === 'failed' && outcome.message).toMatch(/leads out|left no/);
  });

  it('is refused when it leaves no kernel', async (context) => {
    if (why) return context.skip();
    const outcome = await build(['true']);
    expect(outcome).toMatchObject({ kind: 'failed', failureClass: 'build' });
    expect(outcome.kind === 'failed' && outcome.message).toMatch(/left no/);
  });

  it('shows the first error of a build that failed by itself', async (context) => {
    if (why) return context.skip();
    const outcome = await build(["echo 'mm/memory.c:1:1: error: no'; exit 2"]);
    expect(outcome).toMatchObject({ kind: 'failed', failureClass: 'build', message: 'mm/memory.c:1:1: error: no' });
  });
});
