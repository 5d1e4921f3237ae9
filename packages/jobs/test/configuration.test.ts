import { expect, it } from 'vitest';
import { InputError, type ProgramMeta, parseConfiguration, parseJob } from '../src/index.ts';

const meta = (name: string, type: ProgramMeta['type'], params: ProgramMeta['params'] = {}): ProgramMeta => ({
  name,
  type,
  packages: [],
  params,
  metrics: {},
  required: [],
  dir: `programs/${name}`,
});
const programs = new Map(
  [
    meta('pft', 'benchmark', { iterations: { kind: 'int' }, size: { kind: 'size' } }),
    meta('tbench', 'benchmark', { runtime: { kind: 'seconds' } }),
    meta('iostat', 'monitor', { form: { values: ['plain', 'latency'] } }),
  ].map((one) => [one.name, one]),
);
const files: Record<string, string> = {
  pft: 'size: 1M\niterations: 10\npft:\n',
  tbench: 'runtime: 8s\ntbench:\n---\nruntime: 9s\n',
};
const source = {
  names: Object.keys(files),
  read: (name: string) => (files[name] ? { text: files[name], file: `jobs/${name}.yaml` } : null),
};
const read = (text: string) => parseConfiguration(text, 'configs/x.yaml', source, programs);

it('keys of a configuration replace those of its job files, and its own job beats `all`', () => {
  const found = read(
    'jobs:\n- tbench\n- pft: {iterations: [1, 2], boots: 7}\nall:\n  boots: 2\n  iostat: {form: latency}\n',
  );
  const jobs = found.flatMap((one) => one.jobs);
  expect(jobs.map((job) => [job.program, job.params, job.boots])).toEqual([
    ['tbench', { runtime: ['8s'] }, 2],
    ['tbench', { runtime: ['9s'] }, 2],
    ['pft', { size: ['1M'], iterations: ['1', '2'] }, 7],
  ]);
  expect(jobs[0]!.monitors).toEqual([{ name: 'iostat', params: { form: 'latency' } }]);
});

it('a configured job’s text is a job file that gives the same by itself', () => {
  for (const { jobs, text } of read('jobs:\n- tbench: {runtime: 1m}\n- pft: {iterations: [1, 2]}\n- pft\n'))
    expect(parseJob(text, jobs[0]!.file, programs)).toEqual(jobs);
});

it.each([
  ['jobs:\n- pft\n- pfd\n', 'configs/x.yaml:3: jobs.1: no job pfd in jobs/; did you mean pft?'],
  ['jobs:\n- pft:\n    iterations: many\n', 'configs/x.yaml:3: iterations: `many` is no integer'],
  ['jobs:\n- pft\nall:\n  itertions: 1\n', 'configs/x.yaml:4: itertions: unknown key; did you mean iterations?'],
  ['jobs: pft\n', 'configs/x.yaml:1: jobs: must be a list of job files of jobs/'],
  ['jobs:\n- pft: 3\n', 'configs/x.yaml:2: jobs.0.pft: must be a map of keys of the job file'],
  ['jobs: [pft]\neach: {}\n', 'configs/x.yaml:2: each: unknown key; known: all, jobs'],
])('a configuration that is wrong is refused with file, line and key: %j', (text, message) => {
  let error: unknown;
  try {
    read(text);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(InputError);
  expect((error as Error).message).toBe(message);
});
