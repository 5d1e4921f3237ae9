import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { homeDir } from '@kdelta/home';
import { type MapanonRun, mapanonGraphs, readMapanonFiles, sharedScale } from '@kdelta/report';
import { afterAll, beforeAll, expect, it } from 'vitest';

const STALL_MS = 100;
let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'kdelta-stall-'));
  const source = join(homeDir(), 'programs/mapanon/mapanon.c');
  execFileSync('cc', ['-O2', '-static', '-o', join(dir, 'mapanon'), source, '-lm']);
  writeFileSync(
    join(dir, 'references'),
    execFileSync(join(dir, 'mapanon'), ['generate', 'linear', '500000', '50000', '1'], { maxBuffer: 2 ** 26 }),
  );
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** A run that SIGSTOP holds up again and again, wherever it is: while it reads, replays or writes. */
async function stalledRun(): Promise<MapanonRun> {
  const prefix = join(dir, 'out');
  const child = spawn(join(dir, 'mapanon'), ['replay', join(dir, 'references'), prefix], { stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  while (child.exitCode === null && child.signalCode === null) {
    await Promise.race([ended, sleep(20)]);
    child.kill('SIGSTOP');
    await Promise.race([ended, sleep(STALL_MS)]);
    child.kill('SIGCONT');
  }
  expect(child.exitCode).toBe(0);
  const read = (kind: string) => readFileSync(`${prefix}-${kind}.data`, 'utf8');
  return readMapanonFiles('stalled', {
    time: read('time'),
    pagemap: read('pagemap'),
    refcount: read('refcount'),
    age: read('age'),
  });
}

it('a process that SIGSTOP held up shows it at the access it was at, in both graphs', {
  timeout: 120_000,
}, async () => {
  let run: MapanonRun;
  // About half of a replay's time lies between two accesses, where a stop is nobody's.
  let stalls = 0;
  let tries = 0;
  do {
    run = await stalledRun();
    stalls = run.times.filter((time) => time >= 0.9 * STALL_MS * 1000).length;
  } while (stalls === 0 && ++tries < 10);
  expect(stalls).toBeGreaterThan(0);
  // Few of all accesses: the others take microseconds.
  expect(stalls).toBeLessThan(100);
  const scale = sharedScale([run]);
  expect(scale.timeMax).toBeGreaterThanOrEqual(0.9 * STALL_MS * 1000);
  expect(scale.timeScaled).toBeLessThan(scale.timeMax / 10);
  // The spike reaches the top of either plot: y = 26 in user units.
  const graphs = mapanonGraphs(run, scale);
  expect(graphs.time).toMatch(/V26(?![.\d])/);
  expect(graphs['time-unscaled']).toMatch(/V26(?![.\d])/);
});
