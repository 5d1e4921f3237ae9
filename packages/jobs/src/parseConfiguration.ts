import { Document, isMap, isScalar, isSeq, type Node, type Pair } from 'yaml';
import { suggestion } from './nearest.ts';
import { type Overrides, overriddenText, type Programs, parseJob } from './parseJob.ts';
import type { JobFile } from './types.ts';
import { fail, readYaml, type YamlFile } from './yamlFile.ts';

/** One job file of a configuration, with its overrides. */
export interface ConfiguredJob {
  jobs: JobFile[];
  /** The job file as it is with the overrides in it: complete by itself. */
  text: string;
}

/** Where job files come from: `read` gives null when there is none of that name. */
export interface JobSource {
  names: string[];
  read(name: string): { text: string; file: string } | null;
}

/** Whether a YAML text is a configuration and not a job file, which knows no key `jobs`. */
export function isConfiguration(text: string): boolean {
  return /^["']?jobs["']?\s*:/m.test(text);
}

/**
 * Reads a configuration: `jobs`, a list of names of job files, each alone or with keys that replace or join those of the
 * file (`- pft` or `- pft: {iterations: 20}`), and `all`, keys for every one of them. A key given in both is the job's.
 * Throws InputError KD_YAML_SYNTAX or KD_JOB_INVALID with file, line and key, of the configuration or of the job file.
 */
export function parseConfiguration(text: string, file: string, source: JobSource, programs: Programs): ConfiguredJob[] {
  const yaml = readYaml(text, file, 'KD_JOB_INVALID')[0] ?? readYaml('{}', file, 'KD_JOB_INVALID')[0]!;
  const top = yaml.document.contents;
  if (!isMap(top)) fail(yaml, [], 'a configuration is a map of keys: jobs, and all');
  for (const { key } of top.items as Pair<Node, Node>[]) {
    const name = String(isScalar(key) ? key.value : key);
    if (!['jobs', 'all'].includes(name)) fail(yaml, [name], `unknown key${suggestion(name, ['jobs', 'all'])}`);
  }
  const list = yaml.document.get('jobs', true) as unknown;
  if (!isSeq(list) || list.items.length === 0) fail(yaml, ['jobs'], 'must be a list of job files of jobs/');
  const common = overridesAt(yaml, ['all']);
  return list.items.map((item, index) => {
    const pair = isMap(item) && item.items.length === 1 ? (item.items[0] as Pair<Node, Node>) : null;
    const word = pair ? pair.key : item;
    if (!isScalar(word) || typeof word.value !== 'string')
      fail(yaml, ['jobs', index], "must be a job file's name, or one name with a map of keys");
    const job = source.read(word.value);
    if (!job) fail(yaml, ['jobs', index], `no job ${word.value} in jobs/${suggestion(word.value, source.names)}`);
    const own = pair ? overridesAt(yaml, ['jobs', index, word.value]) : [];
    const overrides = [...common.filter((one) => !own.some((other) => other.key === one.key)), ...own];
    return {
      jobs: parseJob(job.text, job.file, programs, overrides),
      text: overriddenText(job.text, overrides),
    };
  });
}

/** The keys of the map at `path`, which remember where they stand. */
function overridesAt(yaml: YamlFile, path: (string | number)[]): Overrides {
  const map = yaml.document.getIn(path, true) as unknown;
  if (map === undefined || map === null || (isScalar(map) && map.value === null)) return [];
  if (!isMap(map)) fail(yaml, path, 'must be a map of keys of the job file');
  const document = new Document();
  document.contents = map as never;
  const part: YamlFile = { ...yaml, document: document as unknown as YamlFile['document'] };
  return (map.items as Pair<Node, Node | null>[]).map((pair) => ({
    yaml: part,
    key: String(isScalar(pair.key) ? pair.key.value : pair.key),
    value: pair.value,
  }));
}
