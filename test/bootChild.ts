/* A worker that the test kills: it begins the boot described by its argument, and prints each phase. */
import { createDriver } from '@kdelta/hosts';
import { loadPrograms, programRoots } from '@kdelta/programs';
import { runBoot } from '@kdelta/runner';

const { host, order, testcase, cacheDir } = JSON.parse(process.argv[2]!);
const programs = await loadPrograms(programRoots(process.env));
await runBoot(createDriver(host, { cacheDir }), order, testcase, programs, order.dir, {
  cacheDir,
  signal: new AbortController().signal,
  progress: (phase) => process.stdout.write(`${phase}\n`),
});
