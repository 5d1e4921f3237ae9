import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

/**
 * A real repository and the real command: 300 commits, a topic branch of three merged every ten; one commit of a topic
 * branch moves `level` from 100 to 110. The noise is a repeatable wobble of ±1 that changes with each run.
 */
const folder = mkdtempSync(join(tmpdir(), 'kdelta-bisect-'));
const repo = join(folder, 'repo');
const noisy = `awk -v k=$(wc -l < ${folder}/log) '{print "other: 3"; print "speed: " $1 + sin(k*k*12.9898)}' level`;
const script = `echo "$KDELTA_COMMIT" >> ${folder}/log; ${noisy}`;
const CULPRIT = 187;
let culprit = '';

beforeAll(async () => {
  await build({
    stdin: {
      contents: "import { bisectRunCommand } from './run.ts'; await bisectRunCommand().parseAsync();",
      resolveDir: join(import.meta.dirname, '../src/bisect'),
    },
    outfile: join(folder, 'run.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  execFileSync('git', ['init', '-q', '-b', 'main', repo]);
  execFileSync('git', ['fast-import', '--quiet'], { cwd: repo, input: history() });
  git('reset', '-q', '--hard', 'main');
  culprit = git('rev-parse', 'culprit');
}, 60_000);
afterEach(() => rmSync(join(folder, 'log'), { force: true }));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function history(): string {
  const out: string[] = [];
  const slow = [false];
  const commit = (...parents: number[]) => {
    const mark = slow.length;
    slow.push(mark === CULPRIT || parents.some((p) => slow[p]));
    out.push(`commit refs/heads/main`, `mark :${mark}`, `committer N <n@x> ${1e9 + mark} +0000`, 'data 1', 'c');
    parents.forEach((p, i) => {
      out.push(`${i === 0 ? 'from' : 'merge'} :${p}`);
    });
    out.push('M 644 inline level', 'data 4', slow[mark] ? '110' : '100', '');
    out.push('M 644 inline f', `data ${String(mark).length}`, String(mark), '');
    return mark;
  };
  let main = commit();
  out.push('reset refs/tags/good', 'from :1', '');
  while (slow.length < 300) {
    if (slow.length % 10 !== 6) {
      main = commit(main);
      continue;
    }
    const topic = commit(commit(commit(main)));
    main = commit(commit(main), topic);
  }
  out.push('reset refs/heads/main', `from :${main}`, '', 'reset refs/tags/culprit', `from :${CULPRIT}`, '');
  return `${out.join('\n')}\n`;
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: repo, encoding: 'utf8' }).trim();
}

/** Everything of the repository that a run may not change. */
function state(): string {
  return [git('status', '--porcelain', '--branch'), git('for-each-ref'), readFileSync(join(repo, '.git/HEAD'))].join(
    '\n',
  );
}

/** Runs the command; `killAfter` kills it as soon as it has reported that many runs. */
function bisectRun(
  args: string[],
  killAfter?: number,
): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [join(folder, 'run.mjs'), ...args], { cwd: repo });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (text) => {
    stdout += text;
  });
  child.stderr.on('data', (text) => {
    stderr += text;
    if (killAfter !== undefined && stderr.includes(`run ${killAfter}:`)) child.kill('SIGKILL');
  });
  return new Promise((resolve) => child.on('close', (status) => resolve({ status, stdout, stderr })));
}

const range = ['--good', 'good', '--bad', 'main'];

describe('kdelta bisect run', () => {
  test('names a culprit on a topic branch and leaves the repository as it was', async () => {
    const before = state();
    const { status, stdout } = await bisectRun([...range, '--metric', 'speed', '--json', '--', 'sh', '-c', script]);
    const result = JSON.parse(stdout);
    expect(status).toBe(0);
    expect(result.culprit).toBe(culprit);
    expect(result.ci95_pct[0]).toBeLessThan(10);
    expect(result.ci95_pct[1]).toBeGreaterThan(9);
    expect(Object.values(result.per_commit).flat()).toHaveLength(result.runs);
    expect(state()).toBe(before);
    expect(existsSync(join(repo, '.git/kdelta-bisect.json'))).toBe(false);
  });

  test('goes on after kill -9 without repeating what it knows', async () => {
    const before = state();
    const args = [...range, '--metric', 'speed', '--json', '--', 'sh', '-c', script];
    const killed = await bisectRun(args, 9);
    expect(killed.status).toBe(null);
    const { status, stdout } = await bisectRun(['--resume', '--json']);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ culprit });
    const ran = readFileSync(join(folder, 'log'), 'utf8').trim().split('\n').length;
    expect(ran - JSON.parse(stdout).runs).toBeLessThanOrEqual(1); // the run that was killed
    expect(state()).toBe(before);
  });

  test('with --no-checkout the work tree is left alone', async () => {
    writeFileSync(join(repo, 'f'), 'edited');
    const show = 'git show $KDELTA_COMMIT:level';
    const { status, stdout } = await bisectRun([...range, '--no-checkout', '--json', '--', 'sh', '-c', show]);
    expect(status).toBe(0);
    expect(JSON.parse(stdout).culprit).toBe(culprit);
    expect(readFileSync(join(repo, 'f'), 'utf8')).toBe('edited');
    git('checkout', '-q', 'f');
  });

  test('with --first-parent the merge that brought the culprit is named', async () => {
    const { stdout } = await bisectRun([...range, '--first-parent', '--json', '--', 'cat', 'level']);
    const merge = git('rev-list', '--merges', '--ancestry-path', 'culprit..main').split('\n').pop();
    expect(JSON.parse(stdout).culprit).toBe(merge);
  });

  test('with --binary a flaky test is bisected by its exit status', async () => {
    const flaky = `echo x >> ${folder}/log; test $(cat level) = 100 || test $(($(wc -l < ${folder}/log) % 3)) = 0`;
    const { status, stdout } = await bisectRun([...range, '--binary', '--json', '--', 'sh', '-c', flaky]);
    expect(status).toBe(0);
    expect(JSON.parse(stdout).culprit).toBe(culprit);
  });

  test('a range without a step has no culprit: exit status 1', async () => {
    const { status, stdout } = await bisectRun([...range, '--json', '--', 'echo', '5']);
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ culprit: null, step_pct: 0 });
  });

  test.each([
    ['good and bad exchanged', ['--good', 'main', '--bad', 'good', '--', 'cat', 'level'], /other way round/],
    ['good equals bad', ['--good', 'main', '--bad', 'main', '--', 'cat', 'level'], /same commit/],
    ['an unknown commit', ['--good', 'nowhere', '--bad', 'main', '--', 'cat', 'level'], /nowhere: no such commit/],
    ['no command', range, /command is missing/],
    ['an unknown metric', [...range, '--metric', 'x', '--', 'sh', '-c', noisy], /unknown metric x/],
    ['no number', [...range, '--', 'true'], /printed no number/],
    ['ends that cannot be tested', [...range, '--', 'sh', '-c', 'exit 125'], /can't be tested/],
  ])('%s is refused with one line and exit status 2', async (_, args, line) => {
    writeFileSync(join(folder, 'log'), '');
    const before = state();
    const { status, stderr } = await bisectRun(args as string[]);
    expect(status).toBe(2);
    expect(stderr.trimEnd().split('\n').pop()).toMatch(line as RegExp);
    expect(state()).toBe(before);
  });

  test('a dirty work tree is refused and kept', async () => {
    writeFileSync(join(repo, 'f'), 'edited');
    const { status, stderr } = await bisectRun([...range, '--', 'cat', 'level']);
    expect(status).toBe(2);
    expect(stderr).toMatch(/work tree has changes \(f\)/);
    expect(readFileSync(join(repo, 'f'), 'utf8')).toBe('edited');
    git('checkout', '-q', 'f');
  });
});
