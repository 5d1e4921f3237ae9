import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Shell } from '@kdelta/hosts';
import type { ProgramMeta, Testcase } from '@kdelta/jobs';
import { hostFiles } from '@kdelta/programs';
import { CLEAN, quote, runScript } from './script.ts';
import { readTar, type TarFile, writeTar } from './tar.ts';

/** Raw files of a boot, packed and unpacked, at most. */
const ARCHIVE_MAX_BYTES = 64 * 2 ** 20;
const FILES_MAX_BYTES = 512 * 2 ** 20;
const START_MS = 120_000;
const POLL_MS = 3_000;
/** Beside the waiting channel, in case its message is lost. Seldom: each look costs the guest's CPU. */
const SAFETY_POLL_MS = 60_000;
/** Setups, monitors and archiving may take so long beside the program. */
const SLACK_SECONDS = 300;

export type RunMark = 'started' | 'program-start' | 'program-end' | 'done' | 'stopped';

/** Folders of a boot on its host. */
export interface RunPlace {
  base: string;
  scratch: string;
}

/** In memory on guests, whose disk is emulated; on a lab machine where results outlive a crash. */
export function runPlace(token: string, isGuest: boolean): RunPlace {
  return { base: `${isGuest ? '/run' : '/var/lib'}/kdelta/${token}`, scratch: `/dev/shm/kdelta-${token}` };
}

/** What the script has told so far, each state once, from whichever side it is heard first. */
export class RunMarks {
  private readonly seen = new Set<string>();

  constructor(private readonly mark: (mark: RunMark) => void) {}

  tell(mark: string): void {
    if (this.seen.has(mark)) return;
    this.seen.add(mark);
    this.mark(mark as RunMark);
  }

  has(mark: RunMark): boolean {
    return this.seen.has(mark);
  }
}

/** A channel that blocks in the host's kernel until the script tells something, and so costs the measurement nothing. */
export interface Listening {
  active: boolean;
  stop(): void;
}

/**
 * Puts script and programs on the host, starts the script detached from our session, and goes on listening: one command,
 * as each costs a tenth of a second under emulation.
 */
export async function startRun(
  shell: Shell,
  testcase: Testcase,
  programs: ReadonlyMap<string, ProgramMeta>,
  place: RunPlace,
  cacheDir: string,
  marks: RunMarks,
): Promise<Listening> {
  const files: TarFile[] = [
    { name: 'run.sh', content: Buffer.from(runScript({ testcase, programs, ...place })), executable: true },
  ];
  for (const use of [testcase.run, ...testcase.setups, ...testcase.monitors])
    for (const file of await hostFiles(programs.get(use.name)!, cacheDir, use.env))
      files.push({
        name: `programs/${use.name}/${file.name}`,
        content: await readFile(file.path),
        executable: file.executable,
      });
  const base = quote(place.base);
  const command = `rm -rf ${base} && mkdir -p ${base} && cd ${base} && gzip -dc | tar xf - && mkfifo signal && : >state && { setsid $(command -v setarch >/dev/null && echo setarch -R) env -i ${CLEAN} sh ./run.sh </dev/null >log 2>&1 & echo $! >pid; } && echo =up && exec cat signal`;
  // Without randomised addresses QEMU's TCG finds the code of a process it has seen already translated: script and monitors
  // take half the CPU time (measured: 1.5 instead of 2.9 s of QEMU's per boot). The benchmark gets the kernel's default back.
  const archive = await promisify(gzip)(writeTar(files), { level: 6 });
  const stop = new AbortController();
  const listening: Listening = { active: true, stop: () => stop.abort() };
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => stop.abort(), START_MS);
    let text = '';
    const onStdout = (chunk: Buffer) => {
      const lines = (text + chunk.toString('latin1')).split('\n');
      text = lines.pop()!.slice(-200);
      for (const line of lines) {
        if (line !== '=up') marks.tell(line);
        else {
          clearTimeout(late);
          resolve();
        }
      }
    };
    shell
      .exec(command, { stdin: archive, signal: stop.signal, onStdout })
      .then(
        ({ stderr }) => reject(new RunError('infra', `the host took no script: ${stderr.trim().slice(0, 300)}`)),
        reject,
      )
      .finally(() => {
        clearTimeout(late);
        listening.active = false;
      });
  });
  return listening;
}

/** A run that can't be waited for or collected. */
export class RunError extends Error {
  override readonly name = 'RunError';
  constructor(
    readonly failureClass: 'infra' | 'test',
    message: string,
  ) {
    super(message);
  }
}

/**
 * Waits until the script is done: by listening, where the channel of its start still stands, with a look once a minute;
 * after a lost connection by looking every few seconds.
 */
export async function waitForRun(
  shell: Shell,
  testcase: Testcase,
  place: RunPlace,
  options: { signal: AbortSignal; listening: Listening | null; marks: RunMarks },
): Promise<void> {
  const { listening, marks } = options;
  const until = Date.now() + (testcase.timeoutSeconds * (1 + (testcase.warmup ?? 0)) + SLACK_SECONDS) * 1000;
  let lookAt = Date.now() + (listening?.active ? SAFETY_POLL_MS : 0);
  try {
    for (;;) {
      options.signal.throwIfAborted();
      if (marks.has('done')) return;
      if (!listening?.active || Date.now() >= lookAt) {
        const state = await readState(shell, place);
        for (const mark of state.marks) marks.tell(mark);
        if (state.done) return;
        if (!state.alive) throw new RunError('infra', 'the script on the host is gone and left no result');
        lookAt = Date.now() + (listening?.active ? SAFETY_POLL_MS : POLL_MS);
      }
      if (Date.now() > until) throw new RunError('test', `the job didn't end ${SLACK_SECONDS} s after its time`);
      await sleep(listening?.active ? 20 : Math.min(POLL_MS, Math.max(20, lookAt - Date.now())));
    }
  } finally {
    listening?.stop();
  }
}

export interface RunState {
  /** The script was started on this host, in this boot. */
  known: boolean;
  marks: string[];
  alive: boolean;
  done: boolean;
}

/** What the script on the host has come to. */
export async function readState(shell: Shell, place: RunPlace): Promise<RunState> {
  const command = `cd ${quote(place.base)} 2>/dev/null || exit 3; cat state; read -r pid <pid; if [ -s done ]; then echo =done; elif kill -0 "$pid" 2>/dev/null; then echo =alive; fi`;
  const { status, stdout } = await shell.exec(command, { timeoutMs: 60_000, maxBytes: 65_536 });
  const lines = stdout.toString('latin1').split('\n');
  return {
    known: status === 0 && lines.some((line) => line.startsWith('started')),
    marks: lines.filter((line) => /^[a-z-]+ [\d.]+$/.test(line)).map((line) => line.split(' ')[0]!),
    alive: lines.includes('=alive'),
    done: lines.includes('=done'),
  };
}

/** Fetches the archive into `dir` (emptied first) and takes the boot's folder off the host; returns what the script said at its end. */
export async function collectRun(shell: Shell, place: RunPlace, dir: string, isGuest: boolean): Promise<string> {
  await rm(dir, { recursive: true, force: true });
  await mkdir(dir, { recursive: true });
  const packed = join(dir, '.result.tar.gz');
  await shell.download(`cat ${quote(`${place.base}/result.tar.gz`)}`, packed, {
    maxBytes: ARCHIVE_MAX_BYTES,
    timeoutMs: 600_000,
  });
  const archive = await promisify(gunzip)(await readFile(packed), { maxOutputLength: FILES_MAX_BYTES }).catch(
    (error) => {
      throw new RunError('infra', `the host's archive can't be unpacked: ${error.message}`);
    },
  );
  await rm(packed);
  let files: TarFile[];
  try {
    files = readTar(archive);
  } catch (error) {
    throw new RunError('infra', (error as Error).message);
  }
  for (const { name, content } of files) {
    const file = join(dir, name.replace(/^out\//, ''));
    await mkdir(join(file, '..'), { recursive: true });
    await writeFile(file, content);
  }
  if (!isGuest)
    await shell.exec(`rm -rf ${quote(place.base)} ${quote(place.scratch)}`, { timeoutMs: 60_000 }).catch(() => {});
  return (await readFile(join(dir, 'exit'), 'utf8').catch(() => '')).trim();
}

/** The job is stopped on the host, and what was set up there restored. */
export async function stopRun(shell: Shell, place: RunPlace): Promise<void> {
  const command = `cd ${quote(place.base)} 2>/dev/null || exit 0; read -r pid <pid; kill -TERM -"$pid"`;
  await shell.exec(command, { timeoutMs: 20_000 }).catch(() => {});
}
