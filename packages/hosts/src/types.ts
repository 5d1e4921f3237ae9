import type { HostFile } from '@kdelta/jobs';
import type { KernelArtifact } from '@kdelta/kernels';

export interface BootOrder {
  /** Token on the kernel's command line: `kdelta.boot=<token>`. */
  token: string;
  kernel: KernelArtifact;
  /** Extra boot parameters. */
  cmdline: string;
  /** Debian packages that the testcase's programs need; a guest's root file system is made of these. */
  packages?: string[];
  /** Those of them without which the testcase can't run; a lab machine's boot is refused, or they are installed. */
  requiredPackages?: string[];
  /** Give the guest the scratch disk of its host file, blank. */
  scratchDisk?: boolean;
  /** Folder for console log, pid files and state; a second process can reattach from it. */
  dir: string;
}

/** What proves that the right kernel runs (DESIGN.md, "State"). */
export interface BootEvidence {
  /** /proc/sys/kernel/random/boot_id */
  bootId: string;
  release: string;
  cmdline: string;
  tainted: number;
}

export interface TimelineEntry {
  /** Milliseconds of the worker's clock since the epoch. */
  at: number;
  what: string;
}

/** One SSH connection to a host, reconnecting by itself. */
export interface Shell {
  /** Runs a command line that was written by kdelta (never built from parameters); rejects on a lost connection. */
  exec(
    command: string,
    options?: {
      stdin?: Buffer | NodeJS.ReadableStream;
      timeoutMs?: number;
      maxBytes?: number;
      /** Gets stdout as it comes; `stdout` is then empty. */
      onStdout?: (chunk: Buffer) => void;
      /** Closes the channel; the command then rejects. */
      signal?: AbortSignal;
    },
  ): Promise<{
    status: number;
    stdout: Buffer;
    stderr: string;
  }>;
  /** Streams a command's stdout into a local file; rejects when it would pass maxBytes. */
  download(command: string, toFile: string, options?: { maxBytes?: number; timeoutMs?: number }): Promise<void>;
  close(): void;
}

export type BootFailureClass = 'infra' | 'boot';

/** A host on which the ordered kernel runs, proven by `evidence`. */
export interface BootedHost {
  evidence: BootEvidence;
  shell: Shell;
  timeline: TimelineEntry[];
  /** Resolves with the reason when the kernel dies under us (panic, hang, QEMU gone); never rejects. */
  died: Promise<{ failureClass: BootFailureClass; message: string }>;
  /** The console so far, last `maxBytes`. */
  console(maxBytes?: number): Promise<string>;
  /** Ends the boot and returns the host to idle: kills the guest, or reboots into the default kernel and waits for it. */
  release(): Promise<void>;
}

export interface HostDriver {
  host: HostFile;
  /** Boots the ordered kernel and proves it; throws BootError with class `infra` or `boot` and the console's tail. */
  boot(order: BootOrder, signal: AbortSignal): Promise<BootedHost>;
  /** Reattaches to a boot that another process started, from `order.dir`; null when nothing of it runs any more. */
  reattach(order: BootOrder, signal: AbortSignal): Promise<BootedHost | null>;
  /** Kills whatever an earlier process left on this host (called under a new lease epoch). */
  clear(dir: string): Promise<void>;
  /** Facts for the versions of a testcase that needs `packages`: rootfs key, QEMU version, accel. */
  versions(packages?: string[]): Promise<Record<string, string>>;
}
