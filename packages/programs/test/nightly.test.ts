import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { homeDir } from '@kdelta/home';
import { expandJob, parseHost, parseJob } from '@kdelta/jobs';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  kpisOf,
  nightlyHosts,
  nightlyJob,
  readNightlyList,
  readNightlyResults,
  spreadOf,
} from '../../../scripts/nightly/spread.ts';
import { loadPrograms, type Programs } from '../src/index.ts';

let programs: Programs;
beforeAll(async () => {
  programs = await loadPrograms([join(homeDir(), 'programs')]);
});
const list = readNightlyList();

describe('the nightly list', () => {
  it('has benchmarks, on hosts that exist or with a reason why on none', () => {
    const benchmarks = [...programs.values()].filter(({ type }) => type === 'benchmark').map(({ name }) => name);
    expect(benchmarks).toEqual(expect.arrayContaining(Object.keys(list.programs)));
    for (const [name, entry] of Object.entries(list.programs)) {
      const hosts = nightlyHosts(list, name);
      expect(Boolean(entry.why), name).toBe(hosts.length === 0);
      for (const host of hosts) expect(existsSync(join(homeDir(), 'hosts', `${host}.yaml`)), host).toBe(true);
    }
  });

  it('need not have a new benchmark: it runs with its defaults on all hosts', () => {
    expect(nightlyHosts(list, 'zstd-level')).toEqual(list.hosts);
    expect(nightlyJob(list, 'zstd-level')).toMatch(/^suite: zstd-level\n[\s\S]*\nzstd-level:\n$/);
  });

  it('expands to one testcase an entry on each of its hosts', () => {
    const file = (name: string) => join(homeDir(), 'hosts', `${name}.yaml`);
    for (const name of Object.keys(list.programs))
      for (const hostName of nightlyHosts(list, name)) {
        const [job, ...more] = parseJob(nightlyJob(list, name), `${name}.yaml`, programs);
        expect(more).toEqual([]);
        const host = parseHost(readFileSync(file(hostName), 'utf8'), file(hostName));
        expect(expandJob(job!, host, programs), name).toHaveLength(1);
      }
  });
});

describe('the nightly results', () => {
  it('are of programs, hosts and KPIs that the list and the folders have', () => {
    for (const { program, host, kpis } of readNightlyResults()) {
      expect(nightlyHosts(list, program), program).toContain(host);
      const matrix = Object.fromEntries(Object.entries(kpis).map(([name, row]) => [`${program}.${name}`, row]));
      expect(kpisOf(programs.get(program)!, matrix), program).toEqual(kpis);
    }
  });

  it('are the KPIs of the program alone, boots without a number left out', () => {
    const matrix = {
      'dbench.throughput_MB/s': [1, null, 3],
      'dbench.latency_max_ms': [1, 2, 3],
      'vmstat.us': [1, 2, 3],
    };
    expect(kpisOf(programs.get('dbench')!, matrix)).toEqual({ 'throughput_MB/s': [1, 3] });
  });

  it('have the spread of n - 1: 90, 100 and 110 have 10 %, one boot has none', () => {
    expect(spreadOf([90, 100, 110])).toEqual({ mean: 100, stddevPct: 10 });
    expect(spreadOf([5])).toEqual({ mean: 5, stddevPct: undefined });
  });
});

it('jobs/dbench-monitors.yaml has every monitor but those that change what is measured', () => {
  const file = join(homeDir(), 'jobs/dbench-monitors.yaml');
  const [job] = parseJob(readFileSync(file, 'utf8'), file, programs);
  const all = [...programs.values()].filter(({ type }) => type === 'monitor').map(({ name }) => name);
  const left = all.filter((name) => !job!.monitors.some((monitor) => monitor.name === name));
  expect(left.sort()).toEqual(['ftrace', 'perf-profile', 'pgfault-latency']);
});
