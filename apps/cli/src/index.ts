import { Command } from 'commander';

/** Subcommands are loaded when they are used: `kdelta --help` must not pay for them. */
const subcommands: Record<string, { description: string; load: () => Promise<Command> }> = {
  bisect: {
    description: 'find the commit that changed a metric',
    load: async () => (await import('./bisect/index.ts')).bisectCommand(),
  },
  cache: {
    description: 'kernels, build folders and file systems that can be made again',
    load: async () => (await import('./cache.ts')).cacheCommand(),
  },
  compare: {
    description: 'judge kernels by their matrices',
    load: async () => (await import('./compare.ts')).compareCommand(),
  },
  extract: {
    description: 'print the samples of an MMTests work log',
    load: async () => (await import('./extract.ts')).extractCommand(),
  },
  graph: {
    description: "draw what a benchmark's raw files hold",
    load: async () => (await import('./graph.ts')).graphCommand(),
  },
  histogram: {
    description: 'print how long page faults took, by bounds',
    load: async () => (await import('./histogram.ts')).histogramCommand(),
  },
  import: {
    description: "read other systems' results into matrix files",
    load: async () => (await import('./import.ts')).importCommand(),
  },
  jobs: {
    description: 'job files and their testcases',
    load: async () => (await import('./jobs.ts')).jobsCommand(),
  },
  ministat: {
    description: "compare sets of numbers by Student's t",
    load: async () => (await import('./ministat.ts')).ministatCommand(),
  },
  noise: {
    description: 'how far the boots of one kernel scatter, metric by metric',
    load: async () => (await import('./noise.ts')).noiseCommand(),
  },
  parse: {
    description: "print a raw output's samples",
    load: async () => (await import('./parse.ts')).parseCommand(),
  },
  remote: {
    description: 'call the API of a kdelta elsewhere',
    load: async () => (await import('./remote.ts')).remoteCommand(),
  },
  report: {
    description: 'reports: list, show, approve, reject',
    load: async () => (await import('./report.ts')).reportCommand(),
  },
  run: {
    description: 'boot a kernel on a host, run a job, print its numbers',
    load: async () => (await import('./run.ts')).runCommand(),
  },
  token: {
    description: 'tokens for the API and the dashboard',
    load: async () => (await import('./token.ts')).tokenCommand(),
  },
  server: {
    description: 'pages and API alone (kdelta up has them too)',
    load: async () => (await import('./server.ts')).serverCommand(),
  },
  up: {
    description: 'server, watcher and worker in one go, with a database of their own',
    load: async () => (await import('./up.ts')).upCommand(),
  },
  watch: {
    description: 'fetch the trees and record new heads',
    load: async () => (await import('./watch.ts')).watchCommand(),
  },
  worker: {
    description: 'plan, build, boot, judge, bisect and mail',
    load: async () => (await import('./worker.ts')).workerCommand(),
  },
  poke: {
    description: 'fetch a tree now',
    load: async () => (await import('./poke.ts')).pokeCommand(),
  },
  status: {
    description: 'trees, hosts, running boots and pairs',
    load: async () => (await import('./status.ts')).statusCommand(),
  },
};

const program = new Command('kdelta').description('kernel performance regression bot').version('0.1.0');
const wanted = process.argv[2];
const chosen = wanted === undefined ? undefined : subcommands[wanted];
if (chosen) program.addCommand(await chosen.load());
else
  for (const [name, { description }] of Object.entries(subcommands).sort())
    program.command(name).description(description);
endUsageErrorsWith2(program);
await program.parseAsync();

/** Commander ends with 1 on wrong usage; here 1 is a negative answer, and 2 is usage. */
function endUsageErrorsWith2(command: Command): void {
  command.exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2));
  for (const inner of command.commands) endUsageErrorsWith2(inner);
}
