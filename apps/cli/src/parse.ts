import { cacheDir } from '@kdelta/home';
import { findProgram, loadPrograms, parseOutput, programRoots, type Samples } from '@kdelta/programs';
import { Command } from 'commander';

/** `kdelta parse PROGRAM [FILE] --json`: what a program's parser makes of a raw output (standard input without FILE). */
export function parseCommand(): Command {
  return new Command('parse')
    .description("print a raw output's samples")
    .argument('<program>', 'a folder of programs/ or of KDELTA_PROGRAMS')
    .argument('[file]', 'raw output; standard input without it')
    .option('--json', 'print {"samples": {"program.name": [numbers]}}')
    .action(async (name: string, file: string | undefined, options: { json?: boolean }) => {
      try {
        const meta = findProgram(await loadPrograms(programRoots(process.env)), name);
        const { samples, missing } = await parseOutput(meta, file ?? '-', { cacheDir: cacheDir(process.env) });
        process.stdout.write(options.json ? `${JSON.stringify({ samples })}\n` : samplesAsText(samples));
        if (missing.length === 0) return;
        process.stderr.write(`kdelta: incomplete output of ${name}: no ${missing.join(', ')}\n`);
        process.exitCode = 1;
      } catch (error) {
        process.stderr.write(`kdelta: ${explain(error)}\n`);
        process.exitCode = 2;
      }
    });
}

function samplesAsText(samples: Samples): string {
  return Object.entries(samples)
    .map(([name, values]) => `${name}: ${values.join(' ')}\n`)
    .join('');
}

function explain(error: unknown): string {
  const { code, path, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return `${path}: no such file`;
  if (code === 'EISDIR') return 'the raw output is a folder: name a file';
  return message;
}
