import { existsSync, statSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { BootEvidence, HostDriver, TimelineEntry } from '@kdelta/hosts';
import type { HostFile, Testcase } from '@kdelta/jobs';
import type { KernelArtifact } from '@kdelta/kernels';
import type { Programs } from '@kdelta/programs';
import { type RunPhase, resumeBoot, runBoot } from '@kdelta/runner';
import type { Failure, Progress } from '@kdelta/store';

/** One boot, from staging to collection: all that the machinery below the steps needs to know of it. */
export interface BootWork {
  host: HostFile;
  kernel: KernelArtifact;
  cmdline: string;
  testcase: Testcase;
  /** `kdelta.boot=<token>` */
  token: string;
  /** Folder on the worker's disk that outlives the worker: console, state for reattaching, collected files. */
  dir: string;
  /** A worker before this one began it in `dir` and died: reattach if anything of it still runs. */
  resume: boolean;
}

/** How a boot ended. Whatever was collected is there in either case. */
export interface BootResult {
  /** null: done. Classes `infra`, `boot`, `test`. */
  failure: Failure | null;
  evidence: BootEvidence | null;
  timeline: TimelineEntry[];
  /** Facts that must not differ within a pair: MemTotal, CPUs, microcode … */
  environment: Record<string, string>;
  /** Raw output of benchmark and monitors: program → file on disk. */
  outputs: { program: string; path: string }[];
  /** Everything to be kept: name as shown → file on disk. */
  files: { name: string; path: string }[];
}

export interface BootOptions {
  signal: AbortSignal;
  /** `state` is the boot row's. */
  onProgress(state: 'booting' | 'running' | 'collecting', progress: Progress): void;
}

/**
 * Runs a boot on a leased host and returns how it ended; the host is returned to idle. Rejects only when `signal` fires
 * (after the guest is gone) or on a bug. `null`: it was to be resumed and nothing of it is left; start it anew.
 */
export type BootHost = (work: BootWork, options: BootOptions) => Promise<BootResult | null>;

/** The real one: drivers of packages/hosts, runs of packages/runner. */
export function bootWith(driverOf: (host: HostFile) => HostDriver, programs: Programs, cacheDir: string): BootHost {
  return async (work, { signal, onProgress }) => {
    const driver = driverOf(work.host);
    const order = { token: work.token, kernel: work.kernel, cmdline: work.cmdline, dir: join(work.dir, 'host') };
    const started = Date.now();
    const hooks = {
      cacheDir,
      signal,
      progress(phase: RunPhase) {
        const state =
          phase === 'booting' ? 'booting' : phase === 'collecting' || phase === 'releasing' ? 'collecting' : 'running';
        onProgress(state, { phase, note: `${Math.round((Date.now() - started) / 1000)} s` });
      },
    };
    await mkdir(order.dir, { recursive: true });
    // Whatever a worker before us left on this host in this folder is ended before another start.
    if (!work.resume) await driver.clear(order.dir);
    const ran = work.resume
      ? await resumeBoot(driver, order, work.testcase, programs, work.dir, hooks)
      : await runBoot(driver, order, work.testcase, programs, work.dir, hooks);
    if (!ran) return null;

    const files = ran.files ? await filesIn(ran.files) : [];
    for (const name of ['console.log', 'qemu.log']) {
      const path = join(order.dir, name);
      if (existsSync(path) && statSync(path).size > 0) files.push({ name, path });
    }
    return {
      failure: ran.outcome.kind === 'done' ? null : failureOf(ran.outcome, ran.console),
      evidence: ran.evidence,
      timeline: ran.timeline,
      environment: environmentOf(ran.evidence),
      outputs: outputsOf(files, new Set(programs.keys())),
      files,
    };
  };
}

/** Which file holds which program's output: NAME, or NAME.gz of a monitor in its compressed form. */
export function outputsOf(
  files: { name: string; path: string }[],
  programs: ReadonlySet<string>,
): { program: string; path: string }[] {
  const packed = new Set(files.filter(({ name }) => name.endsWith('.gz')).map(({ name }) => name.slice(0, -3)));
  return files
    .map(({ name, path }) => ({ name, program: name.replace(/\.gz$/, ''), path }))
    .filter(({ name, program }) => programs.has(program) && (name !== program || !packed.has(program)))
    .map(({ program, path }) => ({ program, path }));
}

function environmentOf(evidence: BootEvidence | null): Record<string, string> {
  return evidence ? { tainted: String(evidence.tainted) } : {};
}

const failureCodes = { infra: 'KD_HOST_FAILED', boot: 'KD_BOOT_FAILED', test: 'KD_TEST_FAILED' } as const;

function failureOf(outcome: { failureClass: 'infra' | 'boot' | 'test'; message: string }, console: string): Failure {
  const { failureClass, message } = outcome;
  return { class: failureClass, code: failureCodes[failureClass], message, ...(console ? { excerpt: console } : {}) };
}

async function filesIn(dir: string): Promise<{ name: string; path: string }[]> {
  const entries = await readdir(dir, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => ({
      name: relative(dir, join(entry.parentPath, entry.name)),
      path: join(entry.parentPath, entry.name),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
