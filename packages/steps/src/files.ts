import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { checkUrl } from '@kdelta/git';
import {
  fail,
  type HostFile,
  InputError,
  isConfiguration,
  type JobFile,
  type KdeltaConfig,
  parseConfig,
  parseConfiguration,
  parseHost,
  parseJob,
  plainJob,
  readYaml,
  suggestion,
  type YamlFile,
} from '@kdelta/jobs';
import { readKconfig } from '@kdelta/kernels';
import type { Programs } from '@kdelta/programs';

/** What was named isn't there; `message` is the one line to print, with near matches. Exit status 2. */
export class UnknownName extends Error {
  readonly exitStatus = 2;
  constructor(
    readonly code: `KD_UNKNOWN_${'JOB' | 'HOST' | 'TREE' | 'KERNEL' | 'CONFIG' | 'TESTCASE'}`,
    message: string,
  ) {
    super(message);
    this.name = 'UnknownName';
  }
}

/** kdelta.yaml: the file named, or KDELTA_CONFIG, or the one in the working folder or checkout; none is an empty one. */
export function readConfig(home: string, env: NodeJS.ProcessEnv, named?: string): KdeltaConfig {
  const wanted = named ?? env.KDELTA_CONFIG;
  if (wanted) {
    if (!existsSync(wanted)) throw new UnknownName('KD_UNKNOWN_CONFIG', `${wanted}: no such file`);
    return parseConfig(readFileSync(wanted, 'utf8'), wanted);
  }
  const found = [resolve('kdelta.yaml'), join(home, 'kdelta.yaml')].find(existsSync);
  return parseConfig(found ? readFileSync(found, 'utf8') : '', found ?? 'kdelta.yaml');
}

/**
 * What the trees of kdelta.yaml name must be there: URL, jobs, hosts, kconfig. Throws InputError with file, line and key,
 * also of a job or host file that is wrong itself.
 */
export async function checkTrees(
  home: string,
  env: NodeJS.ProcessEnv,
  config: KdeltaConfig,
  programs: Programs,
): Promise<void> {
  if (config.trees.length === 0) return;
  const yaml = readYaml(readFileSync(config.file, 'utf8'), config.file, 'KD_CONFIG_INVALID')[0] as YamlFile;
  const check = async (path: (string | number)[], read: () => unknown) => {
    try {
      await read();
    } catch (error) {
      if (error instanceof InputError) throw error;
      fail(yaml, path, (error as Error).message.replace(/^KD_[A-Z_]+: /, ''));
    }
  };
  for (const [at, tree] of config.trees.entries()) {
    const key = (name: string) => ['trees', at, name];
    await check(key('url'), () => checkUrl(tree.url));
    await check(key('kconfig'), () => readKconfig(join(home, 'kconfig'), tree.kconfig));
    for (const name of tree.jobs) await check(key('jobs'), () => readJobs(home, name, programs));
    const hosts = yaml.document.hasIn(key('hosts')) ? 'hosts' : 'tbox_groups';
    for (const name of tree.hosts) await check(key(hosts), () => readHostsOf(home, env, [name]));
  }
}

/**
 * A job by path or by its name in `jobs/`, or a configuration of several by path or by its name in `configs/`: each with the
 * text that it is all of. A benchmark without a job file runs with its defaults. Throws KD_UNKNOWN_JOB, InputError.
 */
export function readJobs(home: string, name: string, programs: Programs): { job: JobFile; text: string }[] {
  const file = findFile(join(home, 'jobs'), name) ?? findFile(join(home, 'configs'), name);
  const names = namesIn(join(home, 'jobs'));
  if (!file) {
    const text = plainJob(name, programs);
    if (text !== null) return parseJob(text, `jobs/${name}.yaml`, programs).map((job) => ({ job, text }));
    const known = [...names, ...namesIn(join(home, 'configs'))];
    throw new UnknownName('KD_UNKNOWN_JOB', `no job ${name}${suggestion(basename(name, '.yaml'), known)}`);
  }
  const text = readFileSync(file, 'utf8');
  if (!isConfiguration(text)) return parseJob(text, file, programs).map((job) => ({ job, text }));
  const read = (wanted: string) => {
    const path = join(home, 'jobs', `${wanted}.yaml`);
    return names.includes(wanted) ? { text: readFileSync(path, 'utf8'), file: path } : null;
  };
  return parseConfiguration(text, file, { names, read }, programs).flatMap((one) =>
    one.jobs.map((job) => ({ job, text: one.text })),
  );
}

/** A host by its name in `hosts/` (of the checkout, and of `KDELTA_HOSTS`), or by path. Throws KD_UNKNOWN_HOST, InputError. */
export function readHost(home: string, env: NodeJS.ProcessEnv, name: string): HostFile {
  for (const dir of hostFolders(home, env)) {
    const file = findFile(dir, name);
    if (file) return parseHost(readFileSync(file, 'utf8'), file);
  }
  const known = hostFolders(home, env).flatMap(namesIn);
  throw new UnknownName('KD_UNKNOWN_HOST', `no host ${name}${suggestion(name, known)}`);
}

/** The hosts that a tree names: a host's name, or a tbox group's for all of its hosts. */
export function readHostsOf(home: string, env: NodeJS.ProcessEnv, names: string[]): HostFile[] {
  const all = hostFolders(home, env).flatMap((dir) =>
    namesIn(dir).map((name) => readHost(home, env, join(dir, `${name}.yaml`))),
  );
  return names.flatMap((name) => {
    const group = all.filter((host) => host.name === name || host.tboxGroup === name);
    return group.length > 0 ? group : [readHost(home, env, name)];
  });
}

function hostFolders(home: string, env: NodeJS.ProcessEnv): string[] {
  return [...(env.KDELTA_HOSTS ?? '').split(':').filter(Boolean), join(home, 'hosts')];
}

function namesIn(dir: string): string[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir)
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => basename(file, '.yaml'));
}

function findFile(dir: string, name: string): string | null {
  const places = [resolve(name), join(dir, name), join(dir, `${name}.yaml`)];
  return places.find((place) => /\.ya?ml$/.test(place) && existsSync(place)) ?? null;
}
