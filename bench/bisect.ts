import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { performance } from 'node:perf_hooks';
import { createSearch, next, observe } from '@kdelta/bisect';
import { renderPlot, renderTables } from './bisect/render.ts';
import { type Rows, SECTIONS } from './bisect/sections.ts';

/**
 * npm run bench:bisect [-- --only "accuracy,calibration t3"] [--seeds 2000]: simulates the search and its rivals with fixed seeds, keeps each
 * section's rows in bench/results/bisect.json, and writes docs/bisect-bench.md and docs/bisect-bench.svg from all of them (from what is
 * there with `--only render`). A bench that was stopped goes on where it was.
 */
const argument = (name: string) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
};
const seeds = Number(argument('--seeds') ?? 2000);
const all = [...Object.keys(SECTIONS), 'speed'];
const asked = argument('--only')?.split(',');
const only = all.filter((name) => asked?.some((a) => a === name || a === name.split(' ')[0]) ?? true);
const file = 'bench/results/bisect.json';
const read = (): Record<string, Rows> => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {});

mkdirSync('bench/results', { recursive: true });
for (const name of only) {
  const started = performance.now();
  const rows = name === 'speed' ? speed() : SECTIONS[name]!(seeds);
  writeFileSync(file, `${JSON.stringify({ ...read(), [name]: rows }, null, 1)}\n`);
  console.log(name, `${((performance.now() - started) / 1000).toFixed(0)} s`);
  console.table(rows);
}
writeFileSync('docs/bisect-bench.md', renderTables(read()));
writeFileSync('docs/bisect-bench.svg', renderPlot(read()));

/** Measured, in processor time:  a posterior update and choice for 10,000 candidates, on a line. */
function speed(): Rows {
  const commits = Array.from({ length: 10_000 }, (_, i) => ({
    sha: `c${i}`,
    parents: [i === 0 ? 'good' : `c${i - 1}`],
  }));
  const search = createSearch({ commits, good: 'good', bad: 'c9999', budget: 400 });
  const times: number[] = [];
  let k = 0;
  for (;;) {
    const started = process.cpuUsage();
    const step = next(search);
    const { user, system } = process.cpuUsage(started);
    times.push((user + system) / 1000);
    if (step.kind === 'done' || step.kind === 'refused') break;
    for (const p of step.probes)
      for (let i = 0; i < p.boots; i++) {
        const level = p.sha !== 'good' && Number(p.sha.slice(1)) >= 6180 ? 1020 : 1000;
        observe(search, { sha: p.sha, values: [level + 14 * Math.sin(12.9898 * ++k * k)] });
      }
  }
  times.sort((a, b) => a - b);
  const at = (q: number) => Number(times[Math.floor(q * (times.length - 1))]!.toFixed(1));
  return [
    {
      candidates: 10_000,
      updates: times.length,
      'median CPU ms': at(0.5),
      '95 % CPU ms': at(0.95),
      cpu: cpus()[0]!.model,
    },
  ];
}
