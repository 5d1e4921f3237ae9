import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { homeDir } from '@kdelta/home';
import { findProgram, loadPrograms } from '@kdelta/programs';
import {
  kpisOf,
  type NightlyResult,
  nightlyHosts,
  nightlyJob,
  readNightlyList,
  readNightlyResults,
  resultsFile,
  spreadOf,
} from './spread.ts';

/**
 * `npm run nightly [-- PROGRAM… | --missing]`: boots what scripts/nightly/list.yaml lists with `kdelta run`, and keeps what it saw
 * in docs/programs-nightly.json after each program, so that a night that is cut short is not lost. `--missing` boots only
 * what has no result yet. Exits 1 when a boot failed or a KPI is missing.
 */
interface Run {
  testcase: string;
  matrix: Record<string, (number | null)[]>;
  boots: {
    state: string;
    failure: { class: string; message: string } | null;
    started_at: string;
    finished_at: string;
  }[];
}

const list = readNightlyList();
const programs = await loadPrograms([join(homeDir(), 'programs')]);
const benchmarks = [
  ...new Set([
    ...Object.keys(list.programs),
    ...[...programs.values()].filter(({ type }) => type === 'benchmark').map(({ name }) => name),
  ]),
];
const asked = process.argv.slice(2).filter((arg) => !arg.startsWith('--'));
const onlyMissing = process.argv.includes('--missing');
for (const name of asked) findProgram(programs, name);

const has = (program: string, host: string) =>
  readNightlyResults().some((result) => result.program === program && result.host === host);
// The counting host first: what other work the machine has doesn't show there.
const plan = list.hosts
  .flatMap((host) => benchmarks.map((program) => ({ program, host })))
  .filter(({ program, host }) => nightlyHosts(list, program).includes(host))
  .filter(({ program }) => asked.length === 0 || asked.includes(program))
  .filter(({ program, host }) => !(onlyMissing && has(program, host)));

let bad = 0;
for (const { program, host } of plan) {
  const result = boot(program, host);
  const kpis = Object.entries(result?.kpis ?? {});
  for (const [kpi, values] of kpis) {
    const { mean, stddevPct } = spreadOf(values);
    process.stdout.write(
      `${program} ${host} ${kpi}: ${mean.toPrecision(6)} ± ${stddevPct?.toFixed(2)} %, n = ${values.length}\n`,
    );
  }
  for (const failure of result?.failures ?? []) process.stdout.write(`${program} ${host}: ${failure}\n`);
  if (!result || result.failures.length > 0 || kpis.length === 0) bad += 1;
  if (result && kpis.length > 0) keep(result);
}
process.exitCode = bad > 0 ? 1 : 0;

function boot(program: string, host: string): NightlyResult | undefined {
  const dir = mkdtempSync(join(tmpdir(), 'kdelta-nightly-'));
  const load = Number((loadavg()[0] ?? 0).toFixed(1));
  try {
    const job = join(dir, `${program}.yaml`);
    writeFileSync(job, nightlyJob(list, program));
    const args = ['run', job, '--host', host, '--kernel', list.kernel, '--boots', String(list.boots), '--json'];
    const run = spawnSync(process.execPath, [join(homeDir(), 'dist/kdelta.mjs'), ...args], {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (!run.stdout) return undefined;
    const { testcase, matrix, boots } = JSON.parse(run.stdout) as Run;
    return {
      program,
      host,
      testcase,
      kernel: list.kernel,
      date: new Date().toISOString().slice(0, 10),
      machine: `${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} CPUs`,
      load,
      seconds: boots
        .filter(({ state }) => state === 'done')
        .map((each) => (Date.parse(each.finished_at) - Date.parse(each.started_at)) / 1000),
      kpis: kpisOf(programs.get(program)!, matrix),
      failures: boots.flatMap(({ failure }) => (failure ? [`${failure.class}: ${failure.message}`] : [])),
    };
  } finally {
    rmSync(dir, { recursive: true });
  }
}

function keep(result: NightlyResult): void {
  const others = readNightlyResults().filter(({ program, host }) => program !== result.program || host !== result.host);
  const all = [...others, result].sort((a, b) => (`${a.program} ${a.host}` < `${b.program} ${b.host}` ? -1 : 1));
  writeFileSync(resultsFile, `${JSON.stringify(all, null, 2)}\n`);
}
