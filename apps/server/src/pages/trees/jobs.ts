import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { homeDir } from '@kdelta/home';
import { parseJob } from '@kdelta/jobs';
import { loadPrograms, programRoots } from '@kdelta/programs';

export interface JobOnDisk {
  name: string;
  program: string;
  params: string;
  boots: string;
  error: string | null;
}

/** The job files of jobs/, read and checked; a wrong one says where and why. */
export async function readJobs(): Promise<JobOnDisk[]> {
  const dir = join(homeDir(), 'jobs');
  const files = (await readdir(dir).catch(() => [])).filter((file) => /\.ya?ml$/.test(file)).sort();
  const programs = await loadPrograms(programRoots(process.env));
  const read = async (file: string): Promise<JobOnDisk[]> => {
    const name = file.replace(/\.ya?ml$/, '');
    try {
      return parseJob(await readFile(join(dir, file), 'utf8'), `jobs/${file}`, programs).map((job) => {
        const params = Object.entries(job.params).map(([key, values]) => `${key}=${values.join('|')}`);
        const boots = `${job.boots}–${job.maxBoots}`;
        return { name, program: job.program, params: params.join(' '), boots, error: null };
      });
    } catch (error) {
      return [{ name, program: '–', params: '', boots: '–', error: (error as Error).message }];
    }
  };
  return (await Promise.all(files.map(read))).flat();
}
