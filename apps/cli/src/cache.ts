import { cacheDir } from '@kdelta/home';
import { type CacheEntryInfo, listCache, pruneCache } from '@kdelta/kernels';
import { Command } from 'commander';
import { outcome } from './outcome.ts';

/** `kdelta cache list|prune`: kernels, build folders, packages and root file systems that can be made again. */
export function cacheCommand(): Command {
  const command = new Command('cache').description('kernels, build folders and file systems that can be made again');
  command
    .command('list')
    .description('list what the cache holds, longest unused first')
    .option('--json', 'print {"root": PATH, "entries": [...]}')
    .action((options: { json?: boolean }) =>
      outcome(async () => {
        const root = cacheDir(process.env);
        const entries = await listCache(root);
        process.stdout.write(
          options.json ? `${JSON.stringify({ root, entries }, null, 2)}\n` : table(root, entries, new Date()),
        );
        return 0;
      }),
    );
  command
    .command('prune')
    .description('remove what is old, then the longest unused until the rest fits; never what is in use')
    .option('--max-age <days>', 'entries unused for longer go (30d, 12h); default 30d unless --max-size is given')
    .option('--max-size <size>', 'what all entries together may take (20G, 500M, 0)')
    .option('--dry-run', 'only say what would go')
    .option('--json', 'print {"removed": [...], "inUse": [...], "keptBytes": N}')
    .action((options: PruneOptions) => outcome(() => prune(options)));
  return command;
}

interface PruneOptions {
  maxAge?: string;
  maxSize?: string;
  dryRun?: boolean;
  json?: boolean;
}

class UsageError extends Error {
  readonly exitStatus = 2;
}

async function prune(options: PruneOptions): Promise<0> {
  const maxBytes = options.maxSize === undefined ? undefined : parseSize(options.maxSize);
  const maxAge = options.maxAge ?? (maxBytes === undefined ? '30d' : undefined);
  const maxAgeMs = maxAge === undefined ? undefined : parseAge(maxAge);
  const result = await pruneCache(cacheDir(process.env), {
    maxAgeMs,
    maxBytes,
    now: new Date(),
    dryRun: options.dryRun,
  });
  if (options.json) {
    process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
    return 0;
  }
  for (const entry of result.removed)
    process.stdout.write(`${verb(options)} ${entry.kind}/${entry.key} ${size(entry.bytes)}\n`);
  for (const entry of result.inUse) process.stdout.write(`in use: ${entry.kind}/${entry.key} ${size(entry.bytes)}\n`);
  const freed = result.removed.reduce((sum, entry) => sum + entry.bytes, 0);
  process.stdout.write(`${options.dryRun ? 'would free' : 'freed'} ${size(freed)}, ${size(result.keptBytes)} stay\n`);
  return 0;
}

const verb = (options: PruneOptions) => (options.dryRun ? 'would remove' : 'removed');

function parseSize(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([kmgt]?)(i?b)?$/i.exec(text);
  if (!match) throw new UsageError(`--max-size ${text}: a number with K, M, G or T`);
  return Math.round(Number(match[1]) * 1024 ** ' kmgt'.indexOf(match[2]!.toLowerCase() || ' '));
}

function parseAge(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([hd]?)$/i.exec(text);
  if (!match) throw new UsageError(`--max-age ${text}: a number of days (30 or 30d) or hours (12h)`);
  return Number(match[1]) * (match[2]!.toLowerCase() === 'h' ? 3_600_000 : 86_400_000);
}

function table(root: string, entries: CacheEntryInfo[], now: Date): string {
  const rows = entries.map((entry) => [
    size(entry.bytes),
    `${((now.getTime() - entry.lastUsed.getTime()) / 86_400_000).toFixed(1)} d`,
    `${entry.kind}/${entry.key}`,
  ]);
  const total = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  const lines = rows.map(([bytes, age, name]) => `${bytes!.padStart(10)}  ${age!.padStart(8)}  ${name}`);
  return [...lines, `${size(total).padStart(10)}  ${'unused'.padStart(8)}  in ${root}`].join('\n').concat('\n');
}

function size(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes;
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024;
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}
