import type { BootEvidence, TimelineEntry } from '@kdelta/hosts';

export type FailureClass = 'infra' | 'boot' | 'test';

export type BootOutcome = { kind: 'done' } | { kind: 'failed'; failureClass: FailureClass; message: string };

/** What one boot came to. */
export interface BootResult {
  outcome: BootOutcome;
  /** Folder with the raw files (one per program, `NAME.err`, `dmesg`, `reproduce.log`), null when none could be had. */
  files: string | null;
  timeline: TimelineEntry[];
  /** Null when no proven kernel came up. */
  evidence: BootEvidence | null;
  /** The console's last lines when the boot failed. */
  console: string;
}

export type RunPhase = 'booting' | 'starting' | 'setup' | 'program' | 'collecting' | 'releasing';

export interface RunHooks {
  cacheDir: string;
  /** Stops the boot: the host is released, the call rejects. */
  signal: AbortSignal;
  /** What the boot does now. */
  progress?: (phase: RunPhase) => void;
  /** Each entry as it comes, in the worker's clock. */
  timeline?: (entry: TimelineEntry) => void;
}
