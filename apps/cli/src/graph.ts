import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type MapanonRun, mapanonPage, readMapanonFiles } from '@kdelta/report';
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
  const text = (kind: string) => {
    const path = `${prefix}-${kind}.data`;
    if (!existsSync(path)) throw new Error(`${path}: no such file`);
    return readFileSync(path, 'utf8');
  };
  // The monitors' files lie beside mapanon-data/N, whichever of the two was named.
  const beside = (name: string) => {
    const path = [join(given, name), join(given, '..', '..', name)].find((one) => existsSync(one));
    return path === undefined ? {} : { [name]: readFileSync(path, 'utf8') };
  };
  try {
    return readMapanonFiles(cut > 0 ? argument.slice(0, cut) : basename(given), {
      time: text('time'),
      pagemap: text('pagemap'),
      refcount: text('refcount'),
      age: text('age'),
      ...(existsSync(`${prefix}-pagereferences.data`) && { pagereferences: text('pagereferences') }),
      ...beside('meminfo'),
      ...beside('vmstat'),
    });
  } catch (error) {
    throw error instanceof RangeError ? new Error(`${prefix}-*.data: ${error.message}`) : error;
  }
}
