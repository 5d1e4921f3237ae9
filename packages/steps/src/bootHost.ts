import type { BootEvidence, TimelineEntry } from '@kdelta/hosts';
import type { HostFile, Testcase } from '@kdelta/jobs';
import type { KernelArtifact } from '@kdelta/kernels';
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
