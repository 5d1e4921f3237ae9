import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { homeDir } from '@kdelta/home';
import {
  expandJob,
  type HostFile,
  InputError,
  isConfiguration,
  type JobFile,
  type Programs,
  parseConfiguration,
  parseHost,
  parseJob,
  plainJob,
  suggestion,
  type Testcase,
} from '@kdelta/jobs';
import { loadPrograms, programRoots } from '@kdelta/programs';
import { Command } from 'commander';

/** `kdelta jobs expand FILE [--host HOST]`: the testcases of a job file, on one host or on every host of hosts/. */
export function jobsCommand(): Command {
  const command = new Command('jobs').description('job files and their testcases');
  command
    .command('expand')
    .description('list the testcases that a job file expands to')
    .argument('<file>', 'a job file, a configuration of several, or a benchmark')
    .option('--host <host>', 'a name in hosts/, or a host file; all hosts without it')
    .option('--json', 'print {"testcases": [...]}')
    .action(async (file: string, options: { host?: string; json?: boolean }) => {
      try {
        const testcases = await expand(file, options.host);
        process.stdout.write(options.json ? `${JSON.stringify({ testcases }, null, 2)}\n` : table(testcases));
      } catch (error) {
        const status = exitStatus(error);
        if (status === null) throw error;
        process.stderr.write(`kdelta: ${(error as Error).message}\n`);
        process.exitCode = status;
      }
    });
  return command;
}

class UsageError extends Error {
  readonly exitStatus = 2;
}

/** Input that a person can put right carries its exit status, or is a program's meta.yaml. */
function exitStatus(error: unknown): number | null {
  const { exitStatus, code } = error as { exitStatus?: number; code?: string };
  if (exitStatus !== undefined) return exitStatus;
  return code?.startsWith('KD_PROGRAM_') ? 2 : null;
}

async function expand(file: string, host: string | undefined): Promise<Testcase[]> {
  const programs = await loadPrograms(programRoots(process.env));
  const jobs = readJobs(file, programs);
  const hosts = host === undefined ? hostNames().map((name) => readHost(name)) : [readHost(host)];
  const refused: InputError[] = [];
  const testcases = jobs.flatMap((job) =>
    hosts.flatMap((on) => {
      try {
        return expandJob(job, on, programs);
      } catch (error) {
        // A host that can't run it, where no host was asked for, is no reason to hide the others.
        if (!(error instanceof InputError) || host !== undefined) throw error;
        refused.push(error);
        return [];
      }
    }),
  );
  if (testcases.length === 0 && refused[0]) throw refused[0];
  for (const { message } of refused) process.stderr.write(`kdelta: ${message}\n`);
  return testcases;
}

/** A job file, or a configuration of those in jobs/. */
function readJobs(file: string, programs: Programs): JobFile[] {
  const plain = existsSync(file) ? null : plainJob(file, programs);
  if (plain !== null) return parseJob(plain, `jobs/${file}.yaml`, programs);
  const text = readText(file);
  if (!isConfiguration(text)) return parseJob(text, file, programs);
  const names = namesIn('jobs');
  const read = (name: string) => {
    const path = relative(process.cwd(), join(homeDir(), 'jobs', `${name}.yaml`));
    return names.includes(name) ? { text: readText(path), file: path } : null;
  };
  return parseConfiguration(text, file, { names, read }, programs).flatMap((one) => one.jobs);
}

const hostNames = (): string[] => namesIn('hosts');

function namesIn(folder: string): string[] {
  return readdirSync(join(homeDir(), folder))
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => basename(name, '.yaml'))
    .sort();
}

function readHost(name: string): HostFile {
  if (/[/.]/.test(name)) return parseHost(readText(name), name);
  const file = join(homeDir(), 'hosts', `${name}.yaml`);
  if (!existsSync(file)) throw new UsageError(`no host ${name} in hosts/${suggestion(name, hostNames())}`);
  return parseHost(readText(file), relative(process.cwd(), file));
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    throw new UsageError(`${file}: ${code === 'ENOENT' ? 'no such file' : `can't be read (${code})`}`);
  }
}

function table(testcases: Testcase[]): string {
  const width = Math.max(...testcases.map((one) => one.name.length), 8);
  return testcases
    .map((one) => {
      const own = Object.entries(one.run.env).filter(([name]) => !['nr_cpu', 'nr_node', 'memory'].includes(name));
      return `${one.name.padEnd(width)}  ${one.tboxGroup.padEnd(14)}  ${own.map(([name, value]) => `${name}=${value}`).join(' ')}\n`;
    })
    .join('');
}
