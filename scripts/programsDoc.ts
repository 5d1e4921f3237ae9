import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { homeDir } from '@kdelta/home';
import type { ProgramMeta } from '@kdelta/jobs';
import type { MetricInfo } from '@kdelta/matrix';
import { loadPrograms, metricInfo } from '@kdelta/programs';
import { nightlyHosts, readNightlyList, readNightlyResults, spreadOf } from './nightly/spread.ts';

/** docs/programs.md, generated from the folders of programs/: `npm run docs:programs` writes it, a test compares. */
export async function programsDoc(): Promise<string> {
  const programs = [...(await loadPrograms([join(homeDir(), 'programs')])).values()];
  const of = (type: ProgramMeta['type']) => programs.filter((program) => program.type === type);
  return [
    '# Programs',
    '',
    'Generated from the folders of `programs/` by `npm run docs:programs`; each folder has a README with more.',
    '',
    '## Benchmarks',
    '',
    table(['program', 'what', 'KPIs', 'package', 'takes', 'job'], of('benchmark').map(benchmarkRow)),
    '',
    'An arrow says which way is better. A program without a package is built from its folder, or must be on the host, as its README says.',
    '',
    ...spreads(of('benchmark')),
    '### Parameters',
    '',
    ...of('benchmark').flatMap(parameters),
    '## Monitors',
    '',
    table(['monitor', 'what', 'samples', 'by default', 'package'], of('monitor').map(monitorRow)),
    '',
    'A series is sampled while the program runs (once a second unless `interval` says otherwise), a snapshot is taken before and after it, a wrap runs around it.',
    'A default monitor is off with `name: false` in a job, any other on with `name:`.',
    '',
    '## Setup',
    '',
    table(
      ['step', 'what', 'parameters'],
      of('setup').map((meta) => [code(meta.name), text(meta.title), paramList(meta)]),
    ),
    '',
  ].join('\n');
}

function benchmarkRow(meta: ProgramMeta): string[] {
  const kpis = Object.entries(meta.metrics)
    .filter(([, info]) => info.kpi)
    .map(kpi);
  const job = `jobs/${meta.name}.yaml`;
  return [
    `[${meta.name}](../programs/${meta.name}/README.md)`,
    text(meta.title),
    kpis.join('<br>'),
    packages(meta),
    text(meta.takes),
    existsSync(join(homeDir(), job)) ? code(job) : '',
  ];
}

/** Every benchmark × host of the nightly list, measured or not yet, and why the others are not on it. */
function spreads(metas: ProgramMeta[]): string[] {
  const list = readNightlyList();
  const results = readNightlyResults();
  const rows = metas.flatMap((meta) =>
    nightlyHosts(list, meta.name).flatMap((host) => {
      const result = results.find((each) => each.program === meta.name && each.host === host);
      if (!result) return [[meta.name, host, 'not measured yet', '', '', '', '', '']];
      const took = spreadOf(result.seconds).mean;
      return Object.entries(result.kpis).map(([name, values]) => {
        const { mean, stddevPct } = spreadOf(values);
        const unit = metricInfo(meta, name).unit ?? '';
        return [
          code(result.testcase),
          host,
          code(name),
          `${Number(mean.toPrecision(5))} ${unit}`.trim(),
          stddevPct === undefined ? '' : stddevPct.toFixed(2),
          String(values.length),
          `${Math.round(took)} s`,
          `${result.load}`,
        ];
      });
    }),
  );
  const without = metas.filter((meta) => nightlyHosts(list, meta.name).length === 0);
  const from = [...new Set(results.map(({ date, machine, kernel }) => `${date}, ${machine}, ${code(kernel)}`))];
  return [
    '### Spread over boots',
    '',
    'The nightly list is `scripts/nightly/list.yaml`: `npm run nightly` boots each program on it with `kdelta run` and keeps its KPIs in',
    '`docs/programs-nightly.json`, from which this table is made. The spread is the standard deviation over the boots in % of their mean;',
    "a boot takes the time from its start to its end. The load is the machine's when the boots began: qemu-tcg runs in real time and shows",
    'other work as spread, qemu-icount counts instructions.',
    '',
    ...(from.length > 0 ? [`Measured: ${from.join('; ')}.`, ''] : []),
    table(['testcase', 'host', 'KPI', 'mean', 'stddev %', 'boots', 'a boot', 'load'], rows),
    '',
    'Not on the list, only their parsers are tried:',
    '',
    ...without.map(({ name }) => `- ${name}: ${list.programs[name]?.why ?? 'no host given'}.`),
    '',
  ];
}

function kpi([name, info]: [string, Partial<MetricInfo>]): string {
  const arrow = info.better === 'higher' ? ' ↑' : info.better === 'lower' ? ' ↓' : '';
  return `${code(name)}${info.unit ? ` ${info.unit}` : ''}${arrow}`;
}

function monitorRow(meta: ProgramMeta): string[] {
  const link = `[${meta.name}](../programs/${meta.name}/README.md)`;
  return [link, text(meta.title), meta.monitor ?? '', meta.default ? 'yes' : '', packages(meta)];
}

function parameters(meta: ProgramMeta): string[] {
  const rows = Object.entries(meta.params).map(([name, param]) => [
    code(name),
    param.default === undefined ? '' : code(param.default),
    param.values ? param.values.map(code).join(', ') : (param.kind ?? ''),
    [param.help, param.percentOf && `may be a percentage of ${param.percentOf}`].filter(Boolean).join('; '),
  ]);
  if (rows.length === 0) return [];
  return [`**${meta.name}**`, '', table(['parameter', 'default', 'values', ''], rows), ''];
}

function paramList(meta: ProgramMeta): string {
  return Object.entries(meta.params)
    .map(([name, { default: value }]) => code(value === undefined ? name : `${name}: ${value}`))
    .join(', ');
}

function packages(meta: ProgramMeta): string {
  const names = meta.packages.map(code).join(', ');
  return meta.build ? [names, 'own C program'].filter(Boolean).join(', ') : names;
}

function code(value: string): string {
  return `\`${value.replaceAll('|', '\\|')}\``;
}

function text(value: string | undefined): string {
  return (value ?? '').replaceAll('|', '\\|');
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Writes docs/programs.md. */
async function writeProgramsDoc(): Promise<void> {
  writeFileSync(join(homeDir(), 'docs/programs.md'), await programsDoc());
}

if (process.argv[2] === '--write') await writeProgramsDoc();
