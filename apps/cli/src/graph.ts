import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type MapanonRun, mapanonPage } from '@kdelta/report';
import { Command } from 'commander';

/** `kdelta graph mapanon NAME=DIR…`: VM Regress's graphs of one or more runs, side by side on shared scales. */
export function graphCommand(): Command {
  const command = new Command('graph').description("draw what a benchmark's raw files hold");
  command
    .command('mapanon')
    .description('one page with the graphs of runs side by side')
    .argument('<runs...>', "NAME=DIR, DIR being a boot's unpacked raw files (or mapanon-data/N in them)")
    .option('-o, --out <file>', 'the page', 'mapanon.html')
    .action((runs: string[], options: { out: string }) => {
      try {
        writeFileSync(options.out, mapanonPage(runs.map(readRun)));
        process.stdout.write(`${options.out}\n`);
      } catch (error) {
        process.stderr.write(`kdelta: ${(error as Error).message}\n`);
        process.exitCode = 2;
      }
    });
  return command;
}

function readRun(argument: string): MapanonRun {
  const cut = argument.indexOf('=');
  const given = argument.slice(cut + 1);
  const nested = join(given, 'mapanon-data', '1');
  const dir = existsSync(nested) ? nested : given;
  const file = existsSync(dir) ? readdirSync(dir).find((name) => name.endsWith('-pagemap.data')) : undefined;
  if (!file) throw new Error(`${dir}: no mapanon data (<prefix>-pagemap.data)`);
  const prefix = join(dir, file.slice(0, -'-pagemap.data'.length));
  const pagemap = rows(`${prefix}-pagemap.data`, 3);
  const column = (values: number[][], i: number) => values.map((row) => row[i] ?? 0);
  const references = `${prefix}-pagereferences.data`;
  return {
    name: cut > 0 ? argument.slice(0, cut) : basename(given),
    times: Float64Array.from(column(rows(`${prefix}-time.data`, 2), 1)),
    ...(existsSync(references) && { pages: Uint32Array.from(column(rows(references, 1).slice(1), 0)) }),
    refcount: Uint32Array.from(column(rows(`${prefix}-refcount.data`, 2), 1)),
    age: Uint32Array.from(column(rows(`${prefix}-age.data`, 2), 1)),
    present: Uint8Array.from(column(pagemap, 1)),
    swapped: Uint8Array.from(column(pagemap, 2)),
  };
}

function rows(file: string, columns: number): number[][] {
  if (!existsSync(file)) throw new Error(`${file}: no such file`);
  return readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line, i) => {
      const row = line.split(' ').map(Number);
      if (row.length < Math.min(2, columns) || row.some(Number.isNaN))
        throw new Error(`${file}:${i + 1}: not ${columns} numbers`);
      return row;
    });
}
