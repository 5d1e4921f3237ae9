import { Command } from 'commander';

/** Subcommands are loaded when they are used. */
const subcommands: Record<string, { description: string; load: () => Promise<Command> }> = {
  run: {
    description: 'find the commit of any git repository that changed a number a command prints',
    load: async () => (await import('./run.ts')).bisectRunCommand(),
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
