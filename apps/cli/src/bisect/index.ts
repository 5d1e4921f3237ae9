import { Command } from 'commander';

/** Subcommands are loaded when they are used. */
const subcommands: Record<string, { description: string; load: () => Promise<Command> }> = {
  run: {
    description: 'find the commit of any git repository that changed a number a command prints',
    load: async () => (await import('./run.ts')).bisectRunCommand(),
  },
  start: {
    description: 'ask the bot to find the commit that changed a metric',
    load: async () => (await import('./start.ts')).bisectStartCommand(),
  },
  status: {
    description: "the bot's bisects and how far they are",
    load: async () => (await import('./status.ts')).bisectStatusCommand(),
  },
  log: {
    description: 'print a bisect as git bisect replay reads it',
    load: async () => (await import('./log.ts')).bisectLogCommand(),
  },
  cancel: {
    description: 'end a bisect of the bot',
    load: async () => (await import('./cancel.ts')).bisectCancelCommand(),
  },
};

/** `kdelta bisect …` */
export async function bisectCommand(argv: string[] = process.argv): Promise<Command> {
  const group = new Command('bisect').description('find the commit that changed a metric');
  const chosen = subcommands[argv[3] ?? ''];
  if (chosen) group.addCommand(await chosen.load());
  else for (const [name, { description }] of Object.entries(subcommands)) group.command(name).description(description);
  return group;
}
