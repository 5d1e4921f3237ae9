import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { cacheDir, homeDir, joinServices } from '@kdelta/home';
import { buildRegistry } from '@kdelta/matrix';
import { varianceComponents } from '@kdelta/stats';
import type { Edit } from '../test/demo/edits.ts';
import { cloneBase, makeBaseTree, plantBeside } from '../test/demo/makeTree.ts';

/**
 * npm run bench:rebuilds -- [--host qemu-icount] [--jobs dbench,pft] [--boots 3]: builds one source five ways that mean the same, boots
 * each, and prints how far each KPI's builds lie apart beyond what the boots of one build do. What it prints last goes
 * into the host file (`rebuild_spread_pct`). Kernels are built and booted by `kdelta run`, one build after the other.
 */
const { values } = parseArgs({
  options: {
    host: { type: 'string', default: 'qemu-icount' },
    jobs: { type: 'string', default: 'dbench,pft' },
    boots: { type: 'string', default: '3' },
  },
});

const by = 'Layout Developer <layout@example.org>';
const edit = (file: string, subject: string, from: RegExp, to: string): Edit => ({
  file,
  author: by,
  subject,
  body: 'Nothing that the kernel computes changes.',
  apply: (text) => (text.search(from) < 0 ? null : text.replace(from, () => to)),
});

/** 1232 = 19 cache lines and 16 bytes: what is linked behind it moves, and not by whole lines. */
const CODE_PAD = 'asm(".pushsection .text; .skip 1232, 0x90; .popsection");';
const DATA_PAD = 'static char layout_pad[88] __attribute__((used)) = { 1 };';

/** What the compiler and linker may make of it differs; what it computes doesn't. */
const EQUIVALENT: { name: string; edit: Edit }[] = [
  {
    name: 'static function renamed',
    edit: edit('mm/memory.c', 'mm: name do_anonymous_page() after the fault', /\bdo_anonymous_page\b/g, 'do_zero_fill'),
  },
  {
    name: 'code moved by 1232 bytes',
    edit: edit('mm/filemap.c', 'mm: pad the code', /$/, `\n${CODE_PAD}\n`),
  },
  {
    name: 'data moved by 88 bytes',
    edit: edit('fs/namei.c', 'fs: pad the data', /$/, `\n${DATA_PAD}\n`),
  },
  {
    name: 'linked in another order',
    edit: edit(
      'mm/Makefile',
      'mm: link in another order',
      /highmem\.o memory\.o mincore\.o \\\n\s*mlock\.o mmap\.o mmu_gather\.o/,
      'mmu_gather.o mmap.o mlock.o \\\n\t\t\t   mincore.o memory.o highmem.o',
    ),
  },
];

const run = promisify(execFile);
const registry = buildRegistry();
const dir = await mkdtemp(join(tmpdir(), 'kdelta-rebuilds-'));
const env = { ...process.env, KDELTA_STATE: join(dir, 'state') };
const base = await makeBaseTree({ cacheDir: cacheDir(), progress: say });
const services = await joinServices({ state: env.KDELTA_STATE, env });
try {
  const repo = join(dir, 'work.git');
  await cloneBase(base, repo);
  const planted = await plantBeside(
    repo,
    base,
    EQUIVALENT.map(({ edit }) => edit),
  );
  const builds = [
    { name: 'as it is', sha: base.sha },
    ...planted.map(({ sha }, i) => ({ name: EQUIVALENT[i]!.name, sha })),
  ];
  for (const job of values.jobs.split(',')) {
    /** KPI → one list of numbers per build. */
    const kpis = new Map<string, number[][]>();
    for (const [i, { name, sha }] of builds.entries()) {
      for (const [metric, numbers] of Object.entries(await boot(job, `${repo}:${sha}`))) {
        const present = numbers.filter((value) => value !== null);
        if (!registry.lookup(metric).kpi || present.length === 0) continue;
        const rows = kpis.get(metric) ?? [];
        rows[i] = present;
        kpis.set(metric, rows);
      }
      say(`${job}, ${name}: booted`);
    }
    for (const [metric, rows] of kpis)
      print(
        metric,
        rows,
        builds.map(({ name }) => name),
      );
  }
} finally {
  await services.leave();
  await base.hold.release();
  await rm(dir, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
}

/** Builds the kernel where it isn't built yet, and boots it: metric → a number per boot. */
async function boot(job: string, kernel: string): Promise<Record<string, (number | null)[]>> {
  const kdelta = join(homeDir(), 'dist', 'kdelta.mjs');
  const args = [kdelta, 'run', job, '--host', values.host, '--kernel', kernel, '--boots', values.boots, '--json'];
  const { stdout } = await run(process.execPath, args, { env, maxBuffer: 1e9 });
  return (JSON.parse(stdout) as { matrix: Record<string, (number | null)[]> }).matrix;
}

function print(metric: string, rows: number[][], names: string[]): void {
  const { mean, within, between } = varianceComponents(rows);
  const pct = (variance: number) => ((100 * Math.sqrt(variance)) / mean).toFixed(3);
  const lines = rows.map((row, i) => {
    const level = row.reduce((sum, value) => sum + value, 0) / row.length;
    return `| ${names[i]} | ${row.join(', ')} | ${((100 * (level - mean)) / mean).toFixed(3)} |`;
  });
  process.stdout.write(
    `\n${metric} on ${values.host}\n\n| build | boots | of the mean, % |\n| --- | --- | --- |\n${lines.join('\n')}\n\n` +
      `standard deviation between boots of one build ${pct(within)} %, between builds beyond that ${pct(between)} %\n\n`,
  );
}

function say(text: string): void {
  process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
}
