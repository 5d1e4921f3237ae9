import { isMap, isScalar, isSeq, type Node, type Pair, parseAllDocuments, type YAMLMap } from 'yaml';
import { suggestion } from './nearest.ts';
import { parseCount, parsePercent, parseSeconds, parseSize } from './quantity.ts';
import type { JobFile, ParamMeta, ProgramMeta } from './types.ts';
import { fail, readYaml, scalarText, type YamlFile } from './yamlFile.ts';

export type Programs = ReadonlyMap<string, ProgramMeta>;

/** Keys of a job file that are neither a program nor a parameter: LKP's, then ours. */
const OWN_KEYS = ['suite', 'testcase', 'category', 'need_kconfig', 'boots', 'max_boots', 'timeout', 'want', 'warmup'];
/** LKP's keys that say nothing to kdelta; its job files load as they are. */
const IGNORED_KEYS = ['description', 'need_memory', 'need_cpu', 'need_modules', 'disabled'];
const RESERVED = new Set([...OWN_KEYS, ...IGNORED_KEYS]);

/**
 * Reads a job file in LKP's form (reference: lkp-tests jobs/README). A key that names a program is run; other keys are
 * parameters of the programs referenced. With several `---` documents, the first is alone a job (when it names a
 * benchmark), and the base of each of the others. `overrides` replace the keys of that name in each of them, or are added.
 * Throws InputError KD_YAML_SYNTAX or KD_JOB_INVALID with file, line and key.
 */
export function parseJob(text: string, file: string, programs: Programs, overrides: Overrides = []): JobFile[] {
  const documents = readYaml(text, file, 'KD_JOB_INVALID');
  const first = documents[0];
  if (!first || !isMap(first.document.contents))
    fail(first ?? emptyFile(file), [], 'a job file is a map of keys: suite, testcase, category and a benchmark');
  const base = entriesOf(first, first.document.contents);
  const read = (yaml: YamlFile, entries: Entry[]) => readJob(yaml, overridden(entries, overrides), programs);
  if (documents.length === 1) return [read(first, base)];
  const jobs = benchmarksAmong(base, programs).length > 0 ? [read(first, base)] : [];
  for (const document of documents.slice(1)) {
    if (!isMap(document.document.contents)) fail(document, [], 'each document of a job file is a map of keys');
    const own = entriesOf(document, document.document.contents);
    const merged = [...base.filter((entry) => !own.some((other) => other.key === entry.key)), ...own];
    jobs.push(read(document, merged));
  }
  return jobs;
}

/** The job file that a benchmark without one gets: its defaults. Null when no benchmark is called so. */
export function plainJob(name: string, programs: Programs): string | null {
  if (programs.get(name)?.type !== 'benchmark') return null;
  return `suite: ${name}\ntestcase: ${name}\ncategory: benchmark\n\n${name}:\n`;
}

/** Keys from elsewhere, which take the place of a job file's own. */
export type Overrides = Entry[];

/** A job file's text with the overrides in it. Setups run in the file's order, so a key keeps its place. */
export function overriddenText(text: string, overrides: Overrides): string {
  if (overrides.length === 0) return text;
  const documents = parseAllDocuments(text);
  if (!Array.isArray(documents)) return text;
  for (const [index, document] of documents.entries())
    for (const { key, value } of overrides)
      if (index === 0) document.set(key, value);
      else document.delete(key);
  return documents.map((document) => document.toString({ directives: false })).join('---\n');
}

function overridden(entries: Entry[], overrides: Overrides): Entry[] {
  const inPlace = entries.map((entry) => overrides.find((one) => one.key === entry.key) ?? entry);
  return [...inPlace, ...overrides.filter((one) => !entries.some((entry) => entry.key === one.key))];
}

interface Entry {
  yaml: YamlFile;
  key: string;
  value: Node | null;
}

function emptyFile(file: string): YamlFile {
  return readYaml('{}', file, 'KD_JOB_INVALID')[0]!;
}

function entriesOf(yaml: YamlFile, map: YAMLMap): Entry[] {
  return (map.items as Pair<Node, Node | null>[]).map((pair) => ({
    yaml,
    key: String(isScalar(pair.key) ? pair.key.value : pair.key),
    value: pair.value,
  }));
}

function benchmarksAmong(entries: Entry[], programs: Programs): Entry[] {
  return entries.filter((entry) => programs.get(entry.key)?.type === 'benchmark');
}

function readJob(yaml: YamlFile, entries: Entry[], programs: Programs): JobFile {
  const own = new Map(entries.filter((entry) => RESERVED.has(entry.key)).map((entry) => [entry.key, entry]));
  const uses = entries.filter((entry) => !RESERVED.has(entry.key) && programs.has(entry.key));
  const free = entries.filter((entry) => !RESERVED.has(entry.key) && !programs.has(entry.key));

  const benchmarks = benchmarksAmong(entries, programs);
  const benchmark = benchmarks[0];
  if (!benchmark) missingBenchmark(yaml, entries, own, programs);
  if (benchmarks[1])
    fail(benchmarks[1].yaml, [benchmarks[1].key], `a job runs one benchmark; ${benchmark.key} is already named`);
  const meta = programs.get(benchmark.key)!;

  // Monitors that are on by default take part unless the file turns them off (`vmstat: off`).
  const off = new Set(uses.filter((use) => isOff(use.value)).map((use) => use.key));
  const monitors = new Set(
    [...programs.values()].filter((p) => p.type === 'monitor' && p.default && !off.has(p.name)).map((p) => p.name),
  );
  for (const use of uses) if (programs.get(use.key)!.type === 'monitor' && !off.has(use.key)) monitors.add(use.key);
  const setups = uses.filter((use) => programs.get(use.key)!.type === 'setup' && !off.has(use.key));

  // A key outside of any program goes to every program of the job that declares it.
  const referenced = [meta, ...setups.map((s) => programs.get(s.key)!), ...[...monitors].map((m) => programs.get(m)!)];
  const shared = new Map<string, { entry: Entry; values: string[] }>();
  for (const entry of free) {
    const declaring = referenced.filter((p) => p.params[entry.key]);
    if (declaring.length === 0) {
      const known = [...OWN_KEYS, ...programs.keys(), ...referenced.flatMap((p) => Object.keys(p.params))];
      fail(entry.yaml, [entry.key], `unknown key${suggestion(entry.key, known)}`);
    }
    const values = readValues(entry.yaml, [entry.key], entry.value);
    for (const program of declaring) checkValues(entry.yaml, [entry.key], values, program.params[entry.key]!);
    shared.set(entry.key, { entry, values });
  }

  const paramsOf = (program: ProgramMeta, entry: Entry | undefined): Record<string, string[]> => {
    const params: Record<string, string[]> = {};
    for (const [name, { values }] of shared) if (program.params[name]) params[name] = values;
    Object.assign(params, entry ? readUse(entry, program) : {});
    return params;
  };

  return {
    file: yaml.file,
    suite: text(own, 'suite') ?? benchmark.key,
    testcase: text(own, 'testcase') ?? benchmark.key,
    category: text(own, 'category') ?? 'benchmark',
    program: benchmark.key,
    params: paramsOf(meta, benchmark),
    setups: setups.map((entry) => ({ name: entry.key, params: paramsOf(programs.get(entry.key)!, entry) })),
    monitors: [...monitors].sort().map((name) => {
      const entry = uses.find((use) => use.key === name);
      return { name, params: single(yaml, entry, name, paramsOf(programs.get(name)!, entry)) };
    }),
    ...boots(yaml, own),
    timeoutSeconds: quantity(own, 'timeout', parseSeconds, 'a duration such as 300s or 10m') ?? 1800,
    warmup: quantity(own, 'warmup', parseCount, 'a number of runs'),
    wantPct: quantity(own, 'want', (t) => parsePercent(t) ?? parsePercent(`${t}%`), 'a percentage such as 2%'),
    needKconfig: readNeedKconfig(own.get('need_kconfig')),
  };
}

/** YAML 1.1, which LKP's files are written in, reads these words as false. */
function isOff(node: Node | null): boolean {
  return isScalar(node) && (node.value === false || node.value === 'off' || node.value === 'no');
}

function missingBenchmark(yaml: YamlFile, entries: Entry[], own: Map<string, Entry>, programs: Programs): never {
  const names = [...programs.values()].filter((p) => p.type === 'benchmark').map((p) => p.name);
  const named = own.get('testcase') ?? own.get('suite');
  const empty = entries.find(
    (entry) => !RESERVED.has(entry.key) && !programs.has(entry.key) && scalarText(entry.value) === null,
  );
  const wanted = empty?.key ?? (isScalar(named?.value) ? String(named?.value.value) : '');
  const at = empty ?? named;
  fail(
    at?.yaml ?? yaml,
    at ? [at.key] : [],
    `missing program: no folder programs/${wanted}${suggestion(wanted, names)}`,
  );
}

/** `dbench: {nr_threads: 4}`, `dbench:`, or for programs with a parameter of their own name `cpufreq_governor: x`. */
function readUse(entry: Entry, program: ProgramMeta): Record<string, string[]> {
  const { yaml, key, value } = entry;
  if (value === null || (isScalar(value) && (value.value === null || value.value === true))) return {};
  if (!isMap(value)) {
    const values = readValues(yaml, [key], value);
    const param = program.params[key];
    if (!param) fail(yaml, [key], `takes no value of its own${parameterHint(program)}`);
    checkValues(yaml, [key], values, param);
    return { [key]: values };
  }
  const params: Record<string, string[]> = {};
  for (const { key: name, value: node } of entriesOf(yaml, value)) {
    const param = program.params[name];
    if (!param) fail(yaml, [key, name], `unknown key${suggestion(name, Object.keys(program.params))}`);
    const values = readValues(yaml, [key, name], node);
    checkValues(yaml, [key, name], values, param);
    params[name] = values;
  }
  return params;
}

function parameterHint(program: ProgramMeta): string {
  const names = Object.keys(program.params);
  return names.length === 0 ? '' : `; its parameters: ${names.join(', ')}`;
}

function readValues(yaml: YamlFile, path: string[], node: Node | null): string[] {
  const items = isSeq(node) ? (node.items as (Node | null)[]) : [node];
  if (items.length === 0) fail(yaml, path, 'is an empty list; give at least one value');
  return items.map((item) => {
    const value = scalarText(item);
    if (value === undefined) fail(yaml, path, 'must be a value or a list of values');
    if (value === null) fail(yaml, path, 'has no value');
    if (/[\0\r\n]/.test(value)) fail(yaml, path, 'must be a single line');
    return value;
  });
}

function checkValues(yaml: YamlFile, path: string[], values: string[], param: ParamMeta): void {
  for (const value of values) {
    const wrong = wrongValue(value, param);
    if (wrong) fail(yaml, path, wrong);
  }
}

/** What is wrong with a value of this parameter, or null. */
export function wrongValue(value: string, param: ParamMeta): string | null {
  if (parsePercent(value) !== null) {
    if (param.percentOf) return null;
    if (param.kind && param.kind !== 'string')
      return `\`${value}\` of what? This parameter is no share of anything; give a plain value`;
  }
  if (param.values && !param.values.includes(value))
    return `\`${value}\` is none of ${param.values.join(', ')}${suggestion(value, param.values).replace(/^; known.*/, '')}`;
  if (param.kind === 'int' && parseCount(value) === null) return `\`${value}\` is no integer`;
  if (param.kind === 'seconds' && parseSeconds(value) === null) return `\`${value}\` is no duration such as 30s or 5m`;
  if (param.kind === 'size' && parseSize(value) === null) return `\`${value}\` is no size such as 512M or 4G`;
  return null;
}

function single(
  yaml: YamlFile,
  entry: Entry | undefined,
  name: string,
  params: Record<string, string[]>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(params).map(([key, values]) => {
      if (values.length > 1)
        fail(entry?.yaml ?? yaml, entry ? [name, key] : [key], 'a monitor takes one value, no list');
      return [key, values[0]!];
    }),
  );
}

function text(own: Map<string, Entry>, key: string): string | null {
  const entry = own.get(key);
  if (!entry) return null;
  const value = scalarText(entry.value);
  if (value === undefined || value === null) fail(entry.yaml, [key], 'must be a name');
  return value;
}

function quantity(
  own: Map<string, Entry>,
  key: string,
  parse: (text: string) => number | null,
  form: string,
): number | undefined {
  const value = text(own, key);
  if (value === null) return undefined;
  const number = parse(value);
  if (number === null || number <= 0) fail(own.get(key)!.yaml, [key], `\`${value}\` must be ${form}`);
  return number;
}

function boots(yaml: YamlFile, own: Map<string, Entry>): { boots: number; maxBoots: number } {
  const first = quantity(own, 'boots', parseCount, 'a number of boots') ?? 3;
  const most = quantity(own, 'max_boots', parseCount, 'a number of boots') ?? Math.max(first, 10);
  if (most < first) fail(own.get('max_boots')?.yaml ?? yaml, ['max_boots'], `must be at least boots (${first})`);
  return { boots: first, maxBoots: most };
}

/** LKP's forms: `X`, `X: y`, lists of these. An option without a value means `y`. */
function readNeedKconfig(entry: Entry | undefined): Record<string, string> {
  if (!entry || entry.value === null) return {};
  const need: Record<string, string> = {};
  const take = (node: unknown): void => {
    if (isSeq(node)) for (const item of node.items) take(item);
    else if (isMap(node))
      for (const { key, value } of entriesOf(entry.yaml, node)) {
        const wanted = scalarText(value);
        if (wanted === undefined) fail(entry.yaml, ['need_kconfig', key], 'must be y, m, n or a value');
        need[optionName(key)] = wanted ?? 'y';
      }
    else {
      const name = scalarText(node);
      if (!name) fail(entry.yaml, ['need_kconfig'], 'must be a list of kconfig options');
      need[optionName(name)] = 'y';
    }
  };
  take(entry.value);
  return need;
}

const optionName = (name: string): string => (name.startsWith('CONFIG_') ? name : `CONFIG_${name}`);
