import { existsSync } from 'node:fs';
import {
  createSearch,
  type Next,
  next,
  observe,
  record,
  replay,
  type Search,
  setBudget,
  untestable,
} from '@kdelta/bisect';
import { git, isAncestorOf, mergeBase, readRange, resolveCommit } from '@kdelta/git';
import { CannotError, UsageError } from './errors.ts';
import { BARE, type RunOutcome, readMetrics, startCommand } from './measure.ts';
import { lookAt, type Progress, printResult } from './progress.ts';
import type { RunOptions } from './run.ts';
import { identify, isAlive, readSaved, removeSaved, type SavedRun, writeSaved } from './saved.ts';
import { checkOut, gitPath, readHead, reasonsNotToTouch, restoreHead } from './worktree.ts';

const TRIES = 3;

/**
 * A bisect of the repository around `cwd`. Everything is checked before anything is touched; after each run of the
 * command the search is written into the git directory, so that a killed run can go on; at the end HEAD, work tree and
 * git directory are as they were. Returns the exit status 0 (named) or 1 (none, undecided).
 * Throws UsageError (2) and CannotError (3).
 */
export async function runBisect(command: string[], options: RunOptions, cwd: string): Promise<number> {
  const repo = await git(cwd, ['rev-parse', '--show-toplevel'])
    .then((out) => out.replace(/\n$/, ''))
    .catch((error: Error) => bareOrFail(cwd, options, error));
  const path = await gitPath(repo, 'kdelta-bisect.json');
  const saved = readSaved(path);
  if (saved !== null && isAlive(saved.owner))
    throw new UsageError(`a bisect is running here already, as process ${saved.owner.pid}`);
  const resumed = saved === null || options.resume !== true ? null : checkResumable(saved, command, options);
  if (saved === null && options.resume === true && options.good === undefined)
    throw new UsageError('there is no interrupted bisect to resume here: name --good, --bad and a command');
  if (saved !== null && resumed === null) await drop(repo, path, saved);
  const run = resumed ?? (await begin(repo, command, options));
  if (run.checkout) {
    const obstacle = resumed === null ? await reasonsNotToTouch(repo) : await strayChanges(repo, run);
    if (obstacle !== null) throw new UsageError(obstacle);
  }
  return new Bisect(repo, cwd, path, run, options).finish();
}

async function bareOrFail(cwd: string, options: RunOptions, error: Error): Promise<string> {
  const bare = await git(cwd, ['rev-parse', '--is-bare-repository']).catch(() => 'no');
  if (bare.trim() === 'true' && !options.checkout) return cwd;
  if (bare.trim() === 'true') throw new UsageError('this repository has no work tree: use --no-checkout');
  throw new UsageError(
    /not a git repository/.test(error.message) ? `${cwd} is not in a git repository` : error.message,
  );
}

async function begin(repo: string, command: string[], options: RunOptions): Promise<SavedRun> {
  if (options.good === undefined) throw new UsageError('--good is missing: name a commit before the change');
  if (options.bad === undefined) throw new UsageError('--bad is missing: name a commit after the change');
  if (command.length === 0) throw new UsageError('the command is missing: give it after --');
  if (options.binary === true && options.metric !== undefined)
    throw new UsageError("--binary looks at the exit status: --metric doesn't go with it");
  const good = await resolveCommit(repo, options.good);
  if (good === null) throw new UsageError(`--good ${options.good}: no such commit`);
  const bad = await resolveCommit(repo, options.bad);
  if (bad === null) throw new UsageError(`--bad ${options.bad}: no such commit`);
  if (good === bad) throw new UsageError(`good and bad are the same commit ${good.slice(0, 12)}: name two`);
  await checkOrder(repo, good, bad);
  const commits = await readRange(repo, good, bad, { firstParent: options.firstParent });
  const maxRuns = options.maxRuns ?? 200;
  const search = createSearch({
    commits,
    good,
    bad,
    kind: options.binary === true ? 'binary' : 'number',
    certainty: options.certainty ?? 0.95,
    budget: maxRuns,
  });
  const head = await readHead(repo);
  return {
    version: 1,
    goodName: options.good,
    badName: options.bad,
    command,
    metric: options.metric ?? null,
    checkout: options.checkout,
    firstParent: options.firstParent ?? false,
    maxRuns,
    runs: 0,
    head,
    at: head.sha,
    owner: identify(process.pid),
    child: null,
    search: record(search),
  };
}

async function checkOrder(repo: string, good: string, bad: string): Promise<void> {
  if (await isAncestorOf(repo, good, bad)) return;
  const [g, b] = [good.slice(0, 12), bad.slice(0, 12)];
  if (await isAncestorOf(repo, bad, good))
    throw new UsageError(`good ${g} is not an ancestor of bad ${b}, it's the other way round: --good ${b} --bad ${g}`);
  const base = await mergeBase(repo, good, bad);
  throw new UsageError(
    base === null
      ? `good ${g} is not an ancestor of bad ${b}, and they have no common ancestor`
      : `good ${g} is not an ancestor of bad ${b}; their merge base is ${base}: try --good ${base.slice(0, 12)}`,
  );
}

function checkResumable(saved: SavedRun, command: string[], options: RunOptions): SavedRun {
  const differs = [
    [options.good, saved.goodName, '--good'],
    [options.bad, saved.badName, '--bad'],
    [options.metric, saved.metric, '--metric'],
    [command.length === 0 ? undefined : command.join('\0'), saved.command.join('\0'), 'command'],
    [options.binary, saved.search.input.kind === 'binary', '--binary'],
    [options.firstParent, saved.firstParent, '--first-parent'],
    [options.checkout ? undefined : false, saved.checkout, '--no-checkout'],
    [options.certainty, saved.search.input.certainty, '--certainty'],
  ].find(([given, before]) => given !== undefined && given !== before);
  if (differs) throw new UsageError(`the interrupted bisect had another ${differs[2]}: leave it out with --resume`);
  if (options.maxRuns !== undefined) saved.maxRuns = options.maxRuns;
  return saved;
}

/** Without --resume an interrupted bisect is forgotten; HEAD goes back to where that one found it. */
async function drop(repo: string, path: string, saved: SavedRun): Promise<void> {
  process.stderr.write(`an interrupted bisect (${saved.runs} runs, not resumed) is dropped\n`);
  const head = await readHead(repo);
  if (saved.checkout && head.ref === null && head.sha === saved.at) await restoreHead(repo, saved.head);
  removeSaved(path);
}

/** On resuming, changes are the killed command's unless HEAD isn't where it was left. */
async function strayChanges(repo: string, run: SavedRun): Promise<string | null> {
  const head = await readHead(repo);
  if (head.sha === run.at || head.sha === run.head.sha) return null;
  return reasonsNotToTouch(repo);
}

class Bisect {
  readonly search: Search;
  readonly progress: Progress;
  private running: { kill: () => void } | null = null;
  private interrupted: string | null = null;

  constructor(
    readonly repo: string,
    readonly cwd: string,
    readonly path: string,
    readonly run: SavedRun,
    readonly options: RunOptions,
  ) {
    this.search = replay(run.search);
    this.progress = lookAt(this.search, process.stderr);
    this.setMaxRuns();
  }

  async finish(): Promise<number> {
    const onSignal = (signal: string) => {
      this.interrupted = signal;
      this.running?.kill();
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => onSignal(signal));
    let keep = true;
    try {
      await this.endOrphan();
      this.run.owner = identify(process.pid);
      this.save();
      const end = await this.searchOn();
      keep = false;
      if (end.kind === 'refused' && (end.code === 'end-untestable' || end.code === 'nothing-testable'))
        throw new UsageError(end.reason);
      return printResult(this.search, end, this.run.runs, this.options.json === true);
    } catch (error) {
      if (error instanceof UsageError) keep = false;
      throw error;
    } finally {
      this.progress.end();
      if (this.run.checkout) await restoreHead(this.repo, this.run.head);
      if (keep && this.search.spent > 0) this.save();
      else removeSaved(this.path);
    }
  }

  private async searchOn(): Promise<Extract<Next, { kind: 'done' | 'refused' }>> {
    for (;;) {
      const step = next(this.search);
      if (step.kind === 'done' || step.kind === 'refused') return step;
      this.progress.step(step.why);
      // interleaved: one run of each, then the next of each
      const most = Math.max(...step.probes.map((p) => p.boots));
      for (let round = 0; round < most; round++)
        for (const probe of step.probes)
          if (round < probe.boots && this.run.runs < this.run.maxRuns)
            if (!(await this.probe(probe.sha, step.kind === 'verify'))) round = most;
      if (this.run.runs >= this.run.maxRuns && this.search.spent < this.search.budget) this.setMaxRuns();
    }
  }

  /** One number of one commit, or the mark that it can't be tested (false). */
  private async probe(sha: string, verify: boolean): Promise<boolean> {
    const end = sha === this.search.input.good || sha === this.search.input.bad;
    let failure = '';
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const outcome = await this.runAt(sha);
      const result = this.read(outcome, sha);
      if (result.kind === 'number') {
        observe(this.search, { sha, values: [result.value], verify });
        this.save();
        this.progress.value(sha, result.value, this.run.runs);
        return true;
      }
      this.setMaxRuns();
      if (result.kind === 'untestable') {
        failure = 'exit status 125';
        break;
      }
      failure = result.reason;
      this.progress.failure(sha, failure);
      this.save();
      if (this.run.runs >= this.run.maxRuns && !end) return false;
    }
    if (end && failure !== 'exit status 125') throw endFailure(sha, failure);
    untestable(this.search, sha);
    this.save();
    this.progress.failure(sha, `can't be tested (${failure})`);
    return false;
  }

  private async runAt(sha: string): Promise<RunOutcome> {
    if (this.run.checkout) {
      this.run.at = sha;
      this.save();
      await checkOut(this.repo, sha);
    }
    this.stopIfInterrupted();
    const { child, outcome } = startCommand(this.run.command, existsSync(this.cwd) ? this.cwd : this.repo, sha);
    if (child.pid !== undefined) {
      this.run.child = identify(child.pid);
      this.save();
      this.running = { kill: () => killGroup(child.pid!) };
    }
    const result = await outcome;
    this.running = null;
    this.run.child = null;
    this.stopIfInterrupted();
    this.run.runs++;
    return result;
  }

  private read(outcome: RunOutcome, sha: string): ReadResult {
    if (outcome.kind === 'not-started') throw new UsageError(outcome.reason);
    if (this.search.input.kind === 'binary') {
      if (outcome.kind === 'signal') throw new CannotError(`the command was ended by ${outcome.signal} at ${sha}`);
      if (outcome.status === 125) return { kind: 'untestable' };
      if (outcome.status >= 128)
        throw new CannotError(`the command asked to stop: exit status ${outcome.status} at ${sha}`);
      return { kind: 'number', value: outcome.status === 0 ? 0 : 1 };
    }
    const said = outcome.lastLine === '' ? '' : `: ${outcome.lastLine}`;
    if (outcome.kind === 'signal') return { kind: 'failure', reason: `ended by ${outcome.signal}${said}` };
    if (outcome.status === 125) return { kind: 'untestable' };
    if (outcome.status !== 0) return { kind: 'failure', reason: `exit status ${outcome.status}${said}` };
    return this.pick(readMetrics(outcome.stdout));
  }

  private pick(metrics: Map<string, number>): ReadResult {
    const names = [...metrics.keys()];
    const known = this.search.spent > 0;
    const wanted = this.run.metric;
    if (wanted !== null) {
      const value = metrics.get(wanted);
      if (value !== undefined) return { kind: 'number', value };
      if (known || names.length === 0) return { kind: 'failure', reason: `it printed no number named ${wanted}` };
      throw new UsageError(
        `unknown metric ${wanted}: the command prints ${names.map((n) => n || 'a bare number').join(', ')}`,
      );
    }
    if (names.length === 1) return { kind: 'number', value: metrics.get(names[0]!)! };
    if (names.length === 0) return { kind: 'failure', reason: 'it printed no number' };
    if (known) return { kind: 'failure', reason: `it printed several metrics: ${names.join(', ')}` };
    throw new UsageError(
      `the command prints several metrics, choose one with --metric: ${names.filter((n) => n !== BARE).join(', ')}`,
    );
  }

  /** Runs without a result count against --max-runs too. */
  private setMaxRuns(): void {
    const budget = Math.max(1, this.run.maxRuns - (this.run.runs - this.search.spent));
    if (budget !== this.search.budget) setBudget(this.search, budget);
  }

  private stopIfInterrupted(): void {
    if (this.interrupted !== null)
      throw new CannotError(`interrupted by ${this.interrupted} after ${this.run.runs} runs: --resume goes on`);
  }

  private save(): void {
    this.run.search = record(this.search);
    writeSaved(this.path, this.run);
  }

  /** A killed run may have left its command running in the work tree. */
  private async endOrphan(): Promise<void> {
    const child = this.run.child;
    if (child === null || !isAlive(child)) return;
    killGroup(child.pid);
    for (let i = 0; i < 50 && isAlive(child); i++) await new Promise((resolve) => setTimeout(resolve, 20));
    this.run.child = null;
  }
}

type ReadResult = { kind: 'number'; value: number } | { kind: 'untestable' } | { kind: 'failure'; reason: string };

function endFailure(sha: string, failure: string): Error {
  const line = `the command failed ${TRIES} times at the end ${sha.slice(0, 12)}: ${failure}`;
  return failure.startsWith('it printed') ? new UsageError(line) : new CannotError(line);
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // it ended by itself
  }
}
