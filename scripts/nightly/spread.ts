import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { homeDir } from '@kdelta/home';
import type { ProgramMeta } from '@kdelta/jobs';
import { metricInfo } from '@kdelta/programs';
import { parse, stringify } from 'yaml';

/** scripts/nightly/list.yaml. */
export interface NightlyList {
  /** As `kdelta run --kernel` takes it. */
  kernel: string;
  /** Boots of each program on each host. */
  boots: number;
  hosts: string[];
  programs: Record<string, NightlyEntry>;
}

/** `hosts` (default: the list's) and `why` a program has none; all else are parameters of its job. */
export type NightlyEntry = { hosts?: string[]; why?: string } & Record<string, unknown>;

/** What three boots of one program on one host gave; docs/programs-nightly.json is a list of these. */
export interface NightlyResult {
  program: string;
  host: string;
  /** Name of the testcase, with its parameters. */
  testcase: string;
  kernel: string;
  /** YYYY-MM-DD. */
  date: string;
  /** CPU model of the machine that emulates. */
  machine: string;
  /** Of its minute before the first boot. */
  load: number;
  /** Seconds from a boot's start to its end, one per boot. */
  seconds: number[];
  /** KPI without the program's prefix → one number per boot. */
  kpis: Record<string, number[]>;
  /** Boots that failed: class and message. */
  failures: string[];
}

const dir = join(homeDir(), 'scripts/nightly');
export const resultsFile = join(homeDir(), 'docs/programs-nightly.json');

/** The list that `npm run nightly` boots. */
export function readNightlyList(): NightlyList {
  return parse(readFileSync(join(dir, 'list.yaml'), 'utf8')) as NightlyList;
}

/** Hosts on which `program` is booted: a benchmark that the list doesn't have runs with its defaults on all. */
export function nightlyHosts(list: NightlyList, program: string): string[] {
  return list.programs[program]?.hosts ?? list.hosts;
}

/** The job of one entry: its parameters, with the governor that the seeds' jobs have. */
export function nightlyJob(list: NightlyList, program: string): string {
  const { hosts: _, why: __, ...params } = list.programs[program] ?? {};
  const head = { suite: program, testcase: program, category: 'benchmark' };
  return `${stringify({ ...head, ...params, cpufreq_governor: 'performance' })}${program}:\n`;
}

/** The kept results; none before the first night. */
export function readNightlyResults(): NightlyResult[] {
  return existsSync(resultsFile) ? (JSON.parse(readFileSync(resultsFile, 'utf8')) as NightlyResult[]) : [];
}

/** The KPIs of `meta` in a matrix of `program.metric` → one number per boot; boots without a number are left out. */
export function kpisOf(meta: ProgramMeta, matrix: Record<string, (number | null)[]>): Record<string, number[]> {
  const prefix = `${meta.name}.`;
  const kpis: Record<string, number[]> = {};
  for (const [name, values] of Object.entries(matrix)) {
    if (!name.startsWith(prefix) || !metricInfo(meta, name.slice(prefix.length)).kpi) continue;
    kpis[name.slice(prefix.length)] = values.filter((value) => value !== null);
  }
  return kpis;
}

/** Mean, and the sample's standard deviation (over n − 1) in % of it; no spread of fewer than two. */
export function spreadOf(values: readonly number[]): { mean: number; stddevPct: number | undefined } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  if (values.length < 2 || mean === 0) return { mean, stddevPct: undefined };
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, stddevPct: (100 * Math.sqrt(squares / (values.length - 1))) / Math.abs(mean) };
}
