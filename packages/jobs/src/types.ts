import type { MetricInfo } from '@kdelta/matrix';

/** One program folder: `programs/<name>/{meta.yaml, run|monitor|setup, parse.ts}`. */
export interface ProgramMeta {
  name: string;
  /** benchmark: has `run`; monitor: `monitor` (runs beside the program); setup: `setup` (before it). */
  type: 'benchmark' | 'monitor' | 'setup';
  title?: string;
  /** Debian packages that must be on the host. */
  packages: string[];
  /** C sources in the folder compiled statically on the worker: output name → compiler arguments. */
  build?: Record<string, string[]>;
  /** Declared parameters: name → how it is read. Only these reach the script, as environment variables. */
  params: Record<string, ParamMeta>;
  /** Metric name without the program's prefix (exact, or /regex/) → what it is. */
  metrics: Record<string, Partial<MetricInfo>>;
  /** Metrics without which a run of a benchmark is incomplete (outcome class `test`). */
  required: string[];
  /** Monitors: 'series' samples over time, 'snapshot' before/after, 'wrap' wraps the program (time). */
  monitor?: 'series' | 'snapshot' | 'wrap';
  /** On by default for every benchmark. */
  default?: boolean;
  /** Seconds that a series monitor may take to its first output, for which the program waits; 2 unless given. */
  startsWithin?: number;
  /** How long it takes with its defaults, for docs/programs.md. */
  takes?: string;
  /** What of the host it needs beside CPUs and memory; a job on a host without it is refused. */
  needs?: 'scratch_disk'[];
  /** Files fetched by the worker, checked, and put beside the scripts on the host: file name → where from. */
  sources?: Record<string, SourceMeta>;
  /** Folder on disk. */
  dir: string;
}

export interface SourceMeta {
  /** 64 hex digits. */
  sha256: string;
  /** Upstream's addresses, tried in this order after the mirrors. */
  urls: string[];
  /** Needed only where the parameter of this name has the file's name as its value. */
  param?: string;
}

export interface ParamMeta {
  default?: string;
  /** `50%` means: of the host's CPUs, or of its memory. */
  percentOf?: 'nr_cpu' | 'memory';
  kind?: 'string' | 'int' | 'seconds' | 'size';
  values?: string[];
  /** Debian packages that a value needs on the host: value → packages. */
  packages?: Record<string, string[]>;
  /** One line for docs/programs.md. */
  help?: string;
}

/** A job file, read and checked, not yet expanded. */
export interface JobFile {
  file: string;
  suite: string;
  testcase: string;
  category: string;
  /** The benchmark folder's name. */
  program: string;
  /** Parameter → one value or the list to expand over. */
  params: Record<string, string[]>;
  setups: { name: string; params: Record<string, string[]> }[];
  monitors: { name: string; params: Record<string, string> }[];
  /** Boots per kernel at first, and at most. */
  boots: number;
  maxBoots: number;
  timeoutSeconds: number;
  /** How often the benchmark runs before it is measured, its output thrown away. */
  warmup?: number;
  /** `same` needs the interval within ± this many percent, for KPIs. */
  wantPct?: number;
  needKconfig: Record<string, string>;
}

export interface ProgramUse {
  name: string;
  /** Environment handed to the script; percentages already resolved for the host. */
  env: Record<string, string>;
}

/** One expanded job on one tbox group. `key` identifies all that must be equal for results to be comparable. */
export interface Testcase {
  /** 12 hex digits: program, params, setups, monitors, tbox group, versions. */
  key: string;
  /** `dbench-100%-10s`: job name and path parameters, LKP's form. */
  name: string;
  program: string;
  /** As written (`100%`), for names, tables and pages. */
  params: Record<string, string>;
  run: ProgramUse;
  setups: ProgramUse[];
  monitors: ProgramUse[];
  tboxGroup: string;
  boots: number;
  maxBoots: number;
  timeoutSeconds: number;
  /** How often the benchmark runs before it is measured, its output thrown away. */
  warmup?: number;
  wantPct?: number;
  needKconfig: Record<string, string>;
  /** rootfs key, benchmark version, QEMU version: filled in when planned. */
  versions: Record<string, string>;
}

/** A host file, `hosts/<name>.yaml`. */
export interface HostFile {
  name: string;
  file: string;
  tboxGroup: string;
  model?: string;
  nrCpu: number;
  nrNode: number;
  /** Bytes. */
  memory: number;
  access: { host?: string; port: number | 'auto'; user: string; key?: string; hostKey?: string } | null;
  boot: BootMethod;
  power?: { on: string; off: string; status: string };
  /** Debian packages that a testcase needs and a lab machine lacks: named before the boot (the default), installed, or not asked for. */
  packages?: 'check' | 'install' | 'trust';
  /** A disk that jobs may overwrite: bytes of the one that a guest is given, or a lab machine's device. */
  scratchDisk?: { bytes: number } | { device: string };
  /**
   * Benchmark → percent (standard deviation) by which its KPIs differ between builds of equivalent source on this tbox
   * group, as `npm run bench:rebuilds` measures it.
   */
  rebuildSpreadPct?: Record<string, number>;
  /** Effect floor 0.2 %, want 0.5 %: instructions are counted, not time (qemu with icount). */
  deterministic: boolean;
}

export type BootMethod =
  | {
      method: 'qemu';
      accel: 'kvm' | 'tcg' | 'auto';
      icount: boolean;
      nrCpu: number;
      /** Bytes. */
      memory: number;
      rootfs: string;
    }
  | { method: 'kexec' }
  | { method: 'grub' }
  | { method: 'none' };

export interface TreeConfig {
  name: string;
  url: string;
  /** A local repository whose objects the mirror borrows (git's --reference). */
  reference?: string;
  branches: string[];
  /** Branch or tag: a new or rewritten branch is compared with its merge base with this. */
  baseline: string;
  pollSeconds: number;
  /** kconfig/<base> and kconfig fragments merged onto it. */
  kconfig: { base: string; fragments: string[] };
  jobs: string[];
  hosts: string[];
  bisect: { enabled: boolean; budget: number; certainty: number };
  mail: MailRules;
}

export interface MailRules {
  mode: 'draft' | 'auto';
  to: ('author' | string)[];
  cc: string[];
  /** Patterns (`*@example.org`) the envelope must match; empty = nobody. */
  allow: string[];
  perDay: number;
  charset: 'utf-8' | 'ascii';
  /** Attach files also when a list is among the recipients. */
  attachToLists: boolean;
}

export interface KdeltaConfig {
  file: string;
  /** Public address of the dashboard, used in mails. */
  url: string;
  listen: { host: string; port: number };
  mail: { smtp: string; from: string } | null;
  reading: 'open' | 'token';
  trees: TreeConfig[];
}
