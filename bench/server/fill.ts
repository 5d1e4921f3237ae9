import { buildRegistry, type Matrix } from '@kdelta/matrix';
import { JUDGE_VERSION, judge } from '@kdelta/stats';
import { packFullBlocks, packJudgement, packValues, type Store } from '@kdelta/store';
import { hex, normal, randomFrom } from '../../test/seed/random.ts';

export interface Filled {
  pairs: number;
  testcase: number;
  kpi: string;
  other: string;
}

const KPI = 'bench.throughput';
const PER_SIDE = 5;
const VARIANTS = 24;

/**
 * 20,000 boots × 5,000 metrics as a lab would have them: 2,000 pairs of 5 + 5 boots, half of them at one testcase, each
 * with its judgement, and blocks over their matrices. The numbers of a boot are one of 24 × 10 made-up matrices (35 % zero or
 * nearly, 10 % constant, 35 % integers, 20 % floats: the store study's mix), judged by the real judge.
 */
export async function fill(
  store: Store,
  size: { pairs: number; metrics: number },
  say: (text: string) => void,
): Promise<Filled> {
  const random = randomFrom(20_000);
  const { pool } = store;
  const q = async <T>(text: string, values: unknown[] = []): Promise<T[]> =>
    (await pool.query(text, values)).rows as T[];
  const names = [
    KPI,
    'bench.latency',
    ...Array.from(
      { length: size.metrics - 2 },
      (_, i) => `${['proc-vmstat', 'meminfo', 'slabinfo', 'interrupts', 'perf-stat'][i % 5]}.counter_${i}`,
    ),
  ];
  const metricIds = (
    await q<{ id: number }>('insert into metric (name) select unnest($1::text[]) returning id', [names])
  ).map((row) => row.id);
  await q(`insert into tree (name, url, config) values ('linus', 'https://example.org/linux.git', '{}')`);
  await q(`insert into host (name, tbox_group, config) select 'box' || i, 'box', '{}' from generate_series(1, 8) i`);
  await q(
    `insert into testcase (key, name, program, tbox_group, params, versions, job)
     select substr(md5(i::text), 1, 12), 'bench-' || i, 'bench', 'box', '{}', '{}', '{}' from generate_series(1, 11) i`,
  );
  const layouts = await q<{ id: number }>(
    'insert into metric_layout (testcase_id, metric_ids) select id, $1::int[] from testcase order by id returning id',
    [metricIds],
  );
  const shas = Array.from({ length: size.pairs + 1 }, () => hex(random, 40));
  await q(
    `insert into commit (sha, parents, author_name, author_email, committer_name, committer_email, authored_at, committed_at, subject)
     select s, case when i = 1 then '{}'::text[] else array[(($1::text[])[i - 1])] end, 'A. Author', 'a@example.org', 'A. Author', 'a@example.org',
            now() - make_interval(mins => 100000 - i::int), now() - make_interval(mins => 100000 - i::int), 'subsys: change number ' || i
       from unnest($1::text[]) with ordinality u(s, i)`,
    [shas],
  );
  await q(
    `insert into kernel (kind, tree_id, sha, kconfig, kconfig_hash, compiler, state, release)
     select 'kbuild', 1, s, 'x86_64', 'c0ffee', 'gcc 12', 'built', '6.12.0' from unnest($1::text[]) s`,
    [shas],
  );

  say('making boots and judgements');
  const registry = buildRegistry([
    {
      name: 'bench',
      metrics: {
        throughput: { unit: 'MB/s', better: 'higher', kpi: true, kind: 'performance' },
        latency: { unit: 'ms', better: 'lower', kpi: true, kind: 'latency' },
      },
    },
  ]);
  const variants = Array.from({ length: VARIANTS }, (_, v) => makeVariant(names, random, v % 3 === 0 ? 0.9 : 1));
  const judged = variants.map(({ base, head }) => {
    const judgement = judge({ base, head, registry });
    return { judgement, packed: packJudgement(judgement) };
  });
  const columns = variants.map(({ base, head }) => ({
    base: packColumns(base, names),
    head: packColumns(head, names),
  }));

  for (let first = 0; first < size.pairs; first += 50) {
    const n = Math.min(50, size.pairs - first);
    const rows = {
      kernel: [] as number[],
      testcase: [] as number[],
      values: [] as Buffer[],
      kpi: [] as number[],
      pair: [] as number[],
    };
    for (let p = first; p < first + n; p++) {
      const variant = p % VARIANTS;
      const testcase = p % 2 ? 1 : 2 + ((p / 2) % 10);
      for (let i = 0; i < PER_SIDE; i++)
        for (const side of ['base', 'head'] as const) {
          rows.kernel.push(side === 'base' ? p + 1 : p + 2);
          rows.testcase.push(testcase);
          rows.pair.push(p + 1);
          rows.values.push(columns[variant]![side][i]!);
          rows.kpi.push(variants[variant]![side].metrics.get(KPI)![i]!);
        }
      await q(
        `insert into pair (tree_id, branch, base_kernel_id, head_kernel_id, testcase_id, state, looks, verdict, line, judged_at)
         values (1, 'master', $1, $2, $3, 'judged', 1, $4, $5, now())`,
        [p + 1, p + 2, testcase, judged[variant]!.judgement.verdict, judged[variant]!.judgement.line],
      );
    }
    const boots = await q<{ id: number }>(
      `insert into boot (kernel_id, testcase_id, pair_id, host_id, state, started_at, finished_at)
       select k, t, p, 1 + (p % 8), 'done', now() - make_interval(mins => (300000 - o)::int), now() - make_interval(mins => (300000 - o)::int, secs => -61)
         from unnest($1::int[], $2::int[], $3::int[]) with ordinality u(k, t, p, o) returning id`,
      [rows.kernel, rows.testcase, rows.pair],
    );
    const ids = boots.map((boot) => boot.id);
    await q(
      'insert into boot_matrix (boot_id, layout_id, values) select b, l, v from unnest($1::int[], $2::int[], $3::bytea[]) u(b, l, v)',
      [ids, rows.testcase.map((testcase) => layouts[testcase - 1]!.id), rows.values],
    );
    await q(
      'insert into kpi_sample (testcase_id, metric_id, boot_id, value) select t, $1, b, v from unnest($2::int[], $3::int[], $4::float8[]) u(t, b, v)',
      [metricIds[0], rows.testcase, ids, rows.kpi],
    );
    for (let i = 0; i < n; i++) {
      const { packed } = judged[(first + i) % VARIANTS]!;
      const own = ids.slice(i * 2 * PER_SIDE, (i + 1) * 2 * PER_SIDE);
      await q(
        `with j as (insert into judgement (pair_id, base_kernel_id, head_kernel_id, testcase_id, base_boots, head_boots, history_cutoff, judge_version, verdict, line, packed)
           select id, base_kernel_id, head_kernel_id, testcase_id, $2::int[], $3::int[], 1, $4, verdict, line, $5 from pair where id = $1 returning id)
         update pair set judgement_id = (select id from j) where id = $1`,
        [first + i + 1, own.filter((_, b) => b % 2 === 0), own.filter((_, b) => b % 2 === 1), JUDGE_VERSION, packed],
      );
    }
    if (first % 500 === 0) say(`${first} of ${size.pairs} pairs`);
  }
  say('packing blocks, as the worker does');
  while (await packFullBlocks(store));
  await q('vacuum analyze');
  return { pairs: size.pairs, testcase: 1, kpi: KPI, other: names[1000]! };
}

function makeVariant(names: string[], random: () => number, factor: number): { base: Matrix; head: Matrix } {
  const base = new Map<string, (number | null)[]>();
  const head = new Map<string, (number | null)[]>();
  names.forEach((name, i) => {
    const kind = i < 2 ? 0.9 : random();
    const level = 10 ** (1 + random() * 6);
    const draw = (scale: number) =>
      Array.from({ length: PER_SIDE }, () => {
        if (kind < 0.35) return random() < 0.9 ? 0 : 1;
        if (kind < 0.45) return Math.round(level);
        const value = level * scale * (1 + 0.01 * normal(random));
        return kind < 0.8 ? Math.round(value) : Number(value.toPrecision(7));
      });
    base.set(name, draw(1));
    head.set(name, draw(i < 2 || i % 97 === 0 ? factor : 1));
  });
  const boots = Array.from({ length: PER_SIDE }, (_, i) => String(i));
  return { base: { boots, metrics: base }, head: { boots, metrics: head } };
}

function packColumns(matrix: Matrix, names: string[]): Buffer[] {
  return matrix.boots.map((_, i) =>
    packValues(Float64Array.from(names, (name) => matrix.metrics.get(name)![i] ?? Number.NaN)),
  );
}
