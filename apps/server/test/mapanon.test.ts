import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { homeDir } from '@kdelta/home';
import { insertArtifact, saveBootMatrix, schema as t } from '@kdelta/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, openLab } from './lab.ts';

/* Two boots with the files that mapanon itself writes. */
let lab: Lab;
let boots: number[];
const KINDS = ['time', 'pagemap', 'refcount', 'age'];

beforeAll(async () => {
  lab = await openLab();
  const dir = mkdtempSync(join(tmpdir(), 'kdelta-mapanon-page-'));
  try {
    const mapanon = join(dir, 'mapanon');
    execFileSync('cc', ['-O2', '-o', mapanon, join(homeDir(), 'programs/mapanon/mapanon.c'), '-lm']);
    const references = execFileSync(mapanon, ['generate', 'smooth_sin-random', '20000', '2000', '1']);
    writeFileSync(join(dir, 'references'), references);
    execFileSync(mapanon, ['replay', join(dir, 'references'), join(dir, 'x')]);
    const files = Object.fromEntries(KINDS.map((kind) => [kind, readFileSync(join(dir, `x-${kind}.data`), 'utf8')]));
    // The second kernel was slower once: 5 ms where the file has the last of its times.
    const slower = files.time!.replace(/\n(\d+) [\d.]+\n$/, '\n$1 5000000.000\n');
    boots = [
      await bootOf(lab.ids.kernels.base, { ...files, pagereferences: references.toString() }, 4.5),
      await bootOf(lab.ids.kernels.head, { ...files, time: slower, pagereferences: references.toString() }, 9.25),
    ];
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
afterAll(() => lab.close());

let testcase: number | undefined;
async function bootOf(kernelId: number, files: Record<string, string>, average: number): Promise<number> {
  const { db } = lab.store;
  testcase ??= (
    await db
      .insert(t.testcase)
      .values({
        key: 'abcdefabcdef',
        name: 'mapanon-50-random',
        program: 'mapanon',
        tboxGroup: 'qemu-tcg',
        params: { pattern: 'random', limit_pct: '50' },
        versions: {},
        job: {},
        jobYaml: '',
      })
      .returning()
  )[0]!.id;
  const [row] = await db
    .insert(t.boot)
    .values({ kernelId, testcaseId: testcase, state: 'done', seq: 0, wantedAt: new Date(), finishedAt: new Date() })
    .returning();
  const keep = async (name: string, text: string) =>
    insertArtifact(db, { bootId: row!.id }, name, await lab.artifacts.put(text));
  for (const [kind, text] of Object.entries(files)) await keep(`mapanon-data/1/mapanon-${kind}.data`, text);
  await keep('mapanon', `# references: ${'ab'.repeat(32)} seed 1\n`);
  await keep(
    'vmstat',
    'procs -----------memory---------- ---swap--\n r  b   swpd   free   buff  cache   si   so                 UTC\n' +
      ' 1  0      0 900000   1000  20000    0    0 2026-12-01 03:00:01\n' +
      ' 1  0  12000 890000   1000  20000    0  500 2026-12-01 03:00:02\n',
  );
  await lab.store.transact((tx) =>
    saveBootMatrix(tx as never, {
      bootId: row!.id,
      testcaseId: testcase!,
      values: new Map([
        ['mapanon.access_avg', average],
        ['mapanon.present', 1200],
      ]),
      kpis: new Set(['mapanon.access_avg']),
    }),
  );
  return row!.id;
}

const get = (url: string) =>
  lab.app.inject({ url, headers: { accept: 'text/html' } }).then(({ statusCode, body, headers }) => ({
    statusCode,
    body,
    headers,
  }));

describe('the page of mapanon', () => {
  it('lays the boots of two kernels side by side, each graph twice on one scale', async () => {
    const { statusCode, body } = await get(`/mapanon?boots=${boots.join(',')}`);
    expect(statusCode).toBe(200);
    for (const title of [
      'access time',
      'access time, unscaled',
      'presence over reference count',
      'presence over age',
      'page over time',
    ])
      expect(body.match(new RegExp(`class="t"[^>]*>boot \\d+[^<]*: ${title}( \\(|<)`, 'g')), title).toHaveLength(2);
    expect(body.match(/: vmstat \(kB\)/g)?.length).toBeGreaterThanOrEqual(2);
    // The slower kernel's 5 s set the top of both: its label stands at the same height in each of the two.
    const unscaled = [...body.matchAll(/<svg[^>]*access time, unscaled.*?<\/svg>/gs)].map(([svg]) => svg);
    expect(unscaled).toHaveLength(2);
    for (const svg of unscaled) expect(svg).toMatch(/<text class="y"[^>]*y="30">5M</);
    // Only its spike reaches it.
    expect(unscaled.map((svg) => /V26[M"]|26V25\.5/.test(svg))).toEqual([false, true]);
    expect(body).toContain('The same references were replayed in each.');
    for (const text of ['4.5', '9.25', '1,200'])
      expect(body, text).toMatch(new RegExp(`<td>${text.replace(',', ',?')}`));
  });

  it('carries nothing inline, and weighs less than 50 kB compressed', async () => {
    const { body, headers } = await get(`/mapanon?boots=${boots.join(',')}`);
    expect(headers['content-security-policy']).not.toContain('unsafe');
    expect(body).not.toMatch(/<style|<[a-z]+[^>]*\s(style|on[a-z]+)="/i);
    expect(gzipSync(body).length).toBeLessThan(50_000);
  });

  it('is reached from a boot and from the comparison of two kernels', async () => {
    expect((await get(`/boots/${boots[0]}`)).body).toContain(`href="/mapanon?boots=${boots[0]}"`);
    const { kernels } = lab.ids;
    const compare = await get(`/compare?base=${kernels.base}&head=${kernels.head}&testcase=${testcase}`);
    expect(compare.body).toContain(`href="/mapanon?boots=${boots.join(',')}"`);
    // And names what else could stand beside a boot.
    expect((await get(`/mapanon?boots=${boots[0]}`)).body).toContain(`href="/mapanon?boots=${boots.join(',')}"`);
  });

  it('says what it can’t draw', async () => {
    for (const [query, status, text] of [
      [`boots=${lab.ids.boots.done}`, 400, 'KD_NOT_MAPANON'],
      ['boots=999999', 404, 'KD_NOT_FOUND'],
      ['boots=1,2,3,4,5', 400, ''],
      ['boots=x', 400, ''],
      [`boots=${boots[0]}&instance=2`, 200, 'instance 2 left no data'],
    ] as const) {
      const answer = await get(`/mapanon?${query}`);
      expect(answer.statusCode, query).toBe(status);
      expect(answer.body, query).toContain(text);
    }
  });
});
