import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { homeDir } from '@kdelta/home';
import { addStepTime } from '@kdelta/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, openLab } from './lab.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab.close());

const read = async () => (await lab.app.inject({ url: '/metrics' })).body;

describe('/metrics', () => {
  it('counts the runs of every step in cumulative buckets, failures by themselves', async () => {
    for (const seconds of [0.05, 3, 3, 7200])
      await addStepTime(lab.store.pool, { step: 'build', seconds, failed: false });
    await addStepTime(lab.store.pool, { step: 'build', seconds: 20, failed: true });
    const lines = (await read()).split('\n');
    const of = (name: string, labels: string) =>
      lines
        .find((line) => line.startsWith(`kdelta_step_seconds_${name}{step="build",outcome=${labels}`))
        ?.split(' ')
        .at(-1);
    const buckets = ['0.1', '1', '5', '15', '60', '300', '900', '3600', '+Inf'];
    expect(buckets.map((le) => of('bucket', `"ok",le="${le}"`))).toEqual(['1', '1', '3', '3', '3', '3', '3', '3', '4']);
    expect([of('sum', '"ok"'), of('count', '"ok"')]).toEqual(['7206.05', '4']);
    expect([of('bucket', '"error",le="15"'), of('bucket', '"error",le="60"')]).toEqual(['0', '1']);
  });

  it('has every series that the Grafana dashboard asks for, each described once', async () => {
    await lab.app.inject({ url: '/pairs' });
    const text = await read();
    const dashboard = readFileSync(join(homeDir(), 'docs', 'grafana', 'kdelta.json'), 'utf8');
    const asked = new Set(dashboard.match(/kdelta_[a-z_]+/g)?.map((name) => name.replace(/_(bucket|sum|count)$/, '')));
    expect(asked.size).toBeGreaterThan(8);
    const described = [...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name);
    expect(new Set(described).size).toBe(described.length);
    for (const name of asked) expect(described, name).toContain(name);
  });
});
