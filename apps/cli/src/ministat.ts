import { readFileSync } from 'node:fs';
import { LEVELS, MinistatError, ministat, type NumberSet, renderMinistat } from '@kdelta/stats';
import { Command } from 'commander';

interface Options {
  c: string;
  C: string;
  d: string;
  s?: boolean;
  n?: boolean;
  w: string;
  compat: string;
  json?: boolean;
}

/** `kdelta ministat FILE…`: FreeBSD's ministat. Exit status 0, or 2 with one line on stderr. */
export function ministatCommand(): Command {
  return new Command('ministat')
    .description("compare sets of numbers by Student's t, as FreeBSD's ministat")
    .argument('<files...>', 'one number per line; - is stdin')
    .option('-c <level>', `confidence in percent: ${LEVELS.join(', ')}`, '95')
    .option('-C <column>', 'column of the numbers', '1')
    .option('-d <delimiters>', 'what separates columns', ' \t')
    .option('-s', 'one bar per set')
    .option('-n', 'no plot')
    .option('-w <width>', 'width of the plot', '74')
    .option('--compat <version>', '14, or 2015 for the numbers of old versions', '14')
    .option('--json', 'print JSON')
    .action((files: string[], options: Options) => {
      try {
        const sets = files.map((file) => readSet(file, options));
        const settings = {
          level: Number(options.c),
          compat: compatOf(options.compat),
          plot: !options.n,
          width: whole(options.w, '-w', 2),
          separateBars: options.s ?? false,
        };
        process.stdout.write(
          options.json ? `${JSON.stringify(ministat(sets, settings))}\n` : renderMinistat(sets, settings),
        );
      } catch (error) {
        if (!(error instanceof MinistatError)) throw error;
        process.stderr.write(`${error.message}\n`);
        process.exitCode = 2;
      }
    });
}

function readSet(file: string, options: Options): NumberSet {
  let text: string;
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new MinistatError(`Cannot open ${file}: ${(error as NodeJS.ErrnoException).code ?? error}`);
  }
  const column = whole(options.C, '-C', 1);
  const values: number[] = [];
  text.split('\n').forEach((line, i) => {
    const cells = splitLine(line.replace(/\r$/, ''), options.d);
    if (cells.length === 0 || cells[0]!.startsWith('#')) return;
    const cell = cells[column - 1];
    if (cell === undefined) return;
    const value = Number(cell);
    if (!Number.isFinite(value)) throw new MinistatError(`Invalid data on line ${i + 1} in ${file}: ${cell}`);
    values.push(value);
  });
  return { name: file === '-' ? '<stdin>' : file, values };
}

function splitLine(line: string, delimiters: string): string[] {
  const cells: string[] = [];
  let cell = '';
  for (const char of line) {
    if (!delimiters.includes(char)) cell += char;
    else if (cell !== '') {
      cells.push(cell);
      cell = '';
    }
  }
  if (cell !== '') cells.push(cell);
  return cells;
}

function whole(text: string, option: string, least: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least)
    throw new MinistatError(`${option} ${text}: expected a whole number ≥ ${least}`);
  return value;
}

function compatOf(text: string): '14' | '2015' {
  if (text === '14' || text === '2015') return text;
  throw new MinistatError(`--compat ${text}: there are 14 and 2015`);
}
