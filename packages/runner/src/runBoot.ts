import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BootError, type BootedHost, type BootOrder, cleanText, type HostDriver, lastLines } from '@kdelta/hosts';
import { needsScratchDisk, type ProgramMeta, packagesOf, requiredPackagesOf, type Testcase } from '@kdelta/jobs';
import { hostFiles, ProgramError } from '@kdelta/programs';
import { collectRun, RunError, RunMarks, readState, runPlace, startRun, stopRun, waitForRun } from './run.ts';
import { MARKS, Timeline } from './timeline.ts';
import type { BootOutcome, BootResult, RunHooks } from './types.ts';

type Programs = ReadonlyMap<string, ProgramMeta>;

/**
 * One boot from start to end: boot the ordered kernel, run the testcase, collect its raw files into `<dir>/files`, release
 * the host. Every way it can go wrong is a result with its class; it rejects only when `hooks.signal` stops it.
 */
export async function runBoot(
  driver: HostDriver,
  order: BootOrder,
  testcase: Testcase,
  programs: Programs,
  dir: string,
  hooks: RunHooks,
): Promise<BootResult> {
  const timeline = await Timeline.open(order.dir, true, hooks.timeline);
  // What can't be compiled or fetched costs no boot.
  for (const use of [testcase.run, ...testcase.setups, ...testcase.monitors]) {
    const wrong = await hostFiles(programs.get(use.name)!, hooks.cacheDir, use.env).then(() => null, programError);
    if (wrong) return bootFailed(wrong, timeline, hooks);
  }
  hooks.progress?.('booting');
  let host: BootedHost;
  try {
    host = await driver.boot(
      {
        ...order,
        packages: packagesOf(testcase, programs),
        requiredPackages: requiredPackagesOf(testcase, programs),
        scratchDisk: needsScratchDisk(testcase),
      },
      hooks.signal,
    );
  } catch (error) {
    return bootFailed(error, timeline, hooks);
  }
  await timeline.add(...host.timeline);
  return await runOn(driver, host, order, testcase, programs, dir, hooks, timeline, false);
}

/**
 * Goes on with a boot that another process began: from its program, its waiting or its collecting, whichever came last. Null
 * when nothing of it runs any more, so that it must be begun again.
 */
export async function resumeBoot(
  driver: HostDriver,
  order: BootOrder,
  testcase: Testcase,
  programs: Programs,
  dir: string,
  hooks: RunHooks,
): Promise<BootResult | null> {
  const timeline = await Timeline.open(order.dir, false, hooks.timeline);
  let host: BootedHost | null;
  try {
    host = await driver.reattach(order, hooks.signal);
  } catch (error) {
    return bootFailed(error, timeline, hooks);
  }
  if (!host) return null;
  await timeline.add(...host.timeline);
  return await runOn(driver, host, order, testcase, programs, dir, hooks, timeline, true);
}

async function runOn(
  driver: HostDriver,
  host: BootedHost,
  order: BootOrder,
  testcase: Testcase,
  programs: Programs,
  dir: string,
  hooks: RunHooks,
  timeline: Timeline,
  reattached: boolean,
): Promise<BootResult> {
  const isGuest = driver.host.boot.method === 'qemu';
  const place = runPlace(order.token, isGuest);
  const files = join(dir, 'files');
  let collected = false;
  const work = async (): Promise<BootOutcome> => {
    hooks.progress?.('starting');
    const running = reattached && (await readState(host.shell, place)).known;
    const marks = new RunMarks((mark) => {
      if (mark === 'program-start') hooks.progress?.('program');
      // Of a state that passed while nobody watched, the worker's clock knows nothing.
      if (mark === 'program-start' && !running) void timeline.mark(MARKS.programStart);
      if (mark === 'program-end' && !running) void timeline.mark(MARKS.programEnd);
    });
    const listening = running ? null : await startRun(host.shell, testcase, programs, place, hooks.cacheDir, marks);
    if (!marks.has('program-start')) hooks.progress?.('setup');
    await waitForRun(host.shell, testcase, place, { signal: hooks.signal, listening, marks });
    hooks.progress?.('collecting');
    const ending = await collectRun(host.shell, place, files, isGuest);
    collected = true;
    await timeline.mark('collected');
    return await judgeEnding(ending, testcase, files);
  };
  const working = work();
  working.catch(() => {});
  let outcome: BootOutcome;
  let console = '';
  try {
    outcome = await Promise.race([working, host.died.then((death): BootOutcome => ({ kind: 'failed', ...death }))]);
  } catch (error) {
    if (hooks.signal.aborted) {
      await stopRun(host.shell, place);
      await host.release();
      throw error;
    }
    outcome = await failedRun(error, host);
  }
  if (outcome.kind === 'failed') console = lastLines(await host.console(16_384));
  hooks.progress?.('releasing');
  try {
    await host.release();
  } catch (error) {
    // The run is whole; a host that doesn't come back is the next boot's trouble.
    await timeline.mark(`not released: ${(error as Error).message.slice(0, 200)}`);
  }
  await timeline.add(...host.timeline);
  await writeFile(join(dir, 'timeline.json'), JSON.stringify(timeline.entries)).catch(() => {});
  return { outcome, files: collected ? files : null, timeline: timeline.entries, evidence: host.evidence, console };
}

/** What the script said at its end: `ok`, or which part failed with which status. */
async function judgeEnding(ending: string, testcase: Testcase, files: string): Promise<BootOutcome> {
  if (ending === 'ok') return { kind: 'done' };
  const [part, name, status] = ending.split(' ');
  if (!name || !status)
    return { kind: 'failed', failureClass: 'infra', message: 'the host sent results without an ending' };
  const last = (await lastLine(join(files, `${name}.err`))) || (await lastLine(join(files, name)));
  const why =
    (part === 'program' || part === 'warmup') && (status === '124' || status === '137')
      ? `ran longer than ${testcase.timeoutSeconds} s`
      : `ended with status ${status}`;
  return { kind: 'failed', failureClass: 'test', message: `${part} ${name} ${why}${last ? `: ${last}` : ''}` };
}

/** The last words of a file that may be of any size and hold anything; '' where there are none. */
async function lastLine(file: string): Promise<string> {
  const handle = await open(file).catch(() => null);
  if (!handle) return '';
  try {
    const { size } = await handle.stat();
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(4096), 0, 4096, Math.max(0, size - 4096));
    return cleanText(buffer.subarray(0, bytesRead).toString('utf8')).trim().split('\n').at(-1)!.slice(0, 300);
  } finally {
    await handle.close();
  }
}

async function failedRun(error: unknown, host: BootedHost): Promise<BootOutcome> {
  // A connection that breaks, or a script that is gone, is often the kernel's death seen first from its other side.
  const death = await Promise.race([host.died, new Promise<null>((resolve) => setTimeout(() => resolve(null), 3_000))]);
  if (death) return { kind: 'failed', ...death };
  const message = error instanceof Error ? error.message : String(error);
  return { kind: 'failed', failureClass: error instanceof RunError ? error.failureClass : 'infra', message };
}

/** A program that can't be made ready says nothing about the kernel. */
function programError(error: unknown): BootError {
  if (!(error instanceof ProgramError)) throw error;
  return new BootError('KD_HOST_SETUP', 'infra', error.message);
}

function bootFailed(error: unknown, timeline: Timeline, hooks: RunHooks): BootResult {
  if (hooks.signal.aborted || !(error instanceof BootError)) throw error;
  return {
    outcome: { kind: 'failed', failureClass: error.failureClass, message: error.message },
    files: null,
    timeline: timeline.entries,
    evidence: null,
    console: error.console,
  };
}
