import { expect, it } from 'vitest';
import { buildRegistry, samplesToBootValues } from '../src/index.ts';

it('a boot’s value is last − first of a counter, the mean of a gauge, and nothing of a clock', () => {
  const registry = buildRegistry([{ name: 'mon', metrics: { events: { counter: true } } }]);
  const samples = { 'mon.time': [10, 11, 12], 'mon.events': [5, 7, 15], 'mon.level': [1, 2, 6] };
  const values = samplesToBootValues(samples, registry);
  expect(values.get('mon.events')).toBe(10);
  expect(values.get('mon.level')).toBe(3);
  expect(values.has('mon.time')).toBe(false);
});

it('a window is counted on the program’s own clock', () => {
  const samples = { 'mon.time': [10, 11, 12], 'mon.level': [1, 2, 6] };
  const values = samplesToBootValues(samples, buildRegistry(), { beginSeconds: 1 });
  expect(values.get('mon.level')).toBe(4);
});
