import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expandJob, parseConfiguration, parseHost } from '@kdelta/jobs';
import { loadPrograms } from '@kdelta/programs';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const yamlNames = (folder: string) => readdirSync(join(root, folder)).map((file) => file.replace(/\.yaml$/, ''));

describe('the named configurations', async () => {
  const programs = await loadPrograms([join(root, 'programs')]);
  const text = (folder: string, name: string) => readFileSync(join(root, folder, `${name}.yaml`), 'utf8');
  const source = {
    names: yamlNames('jobs'),
    read: (name: string) => ({ text: text('jobs', name), file: `jobs/${name}.yaml` }),
  };
  const host = { ...parseHost(text('hosts', 'ivb44'), 'hosts/ivb44.yaml'), scratchDisk: { device: '/dev/sdb' } };
  const testcases = (name: string) =>
    parseConfiguration(text('configs', name), `configs/${name}.yaml`, source, programs)
      .flatMap((one) => one.jobs)
      .flatMap((job) => expandJob(job, host, programs));

  it.each(yamlNames('configs'))('%s expands to testcases of several settings or benchmarks, none twice', (name) => {
    const keys = testcases(name).map((one) => one.key);
    expect(keys.length).toBeGreaterThan(1);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('parallelio makes the size of the background IO a factor', () => {
    expect(testcases('parallelio').map((one) => one.run.env.scale)).toEqual(['25', '50', '100']);
  });
});
