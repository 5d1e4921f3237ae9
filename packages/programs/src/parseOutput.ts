import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ProgramMeta } from '@kdelta/jobs';
import { runForeignParser } from './foreign.ts';
import { unzipped } from './gzip.ts';
import { type Lines, linesOf, linesOfFile } from './lines.ts';
import { metricInfo } from './metricInfo.ts';
import { loadParser } from './parser.ts';
import { type Samples, Sink } from './parsing.ts';

/** What a raw output gave. */
export interface ParsedOutput {
  /** `program.name` → numbers in the order of the output. */
  samples: Samples;
  /** What the output lacks of meta.yaml's `required`, or of its KPIs: not empty = an incomplete run, class `test`. */
  missing: string[];
}

/**
 * Parses one raw output: a path (gzipped where it ends in `.gz`), `-` for standard input, or its content. A folder without parser gives no samples.
 * Throws KD_PROGRAM_PARSER for a parser that doesn't load or throws, KD_OUTPUT_TOO_LARGE, and what opening the file throws.
 */
export async function parseOutput(
  meta: ProgramMeta,
  raw: string | Buffer,
  options: { cacheDir: string },
): Promise<ParsedOutput> {
  const found =
    typeof raw === 'string' && raw.endsWith('.gz')
      ? await unzipped(raw, (file) => parseRaw(meta, file, options.cacheDir))
      : await parseRaw(meta, raw, options.cacheDir);
  const out = new Sink();
  for (const [name, values] of Object.entries(found)) {
    for (const value of values) out.add(`${meta.name}.${name}`, value);
  }
  return { samples: out.samples, missing: missingMetrics(meta, out) };
}

/** `required`; a benchmark that requires nothing by name (it has several tests) must have one KPI at least. */
function missingMetrics(meta: ProgramMeta, out: Sink): string[] {
  const missing = meta.required.filter((name) => out.count(`${meta.name}.${name}`) === 0);
  if (meta.type !== 'benchmark' || meta.required.length > 0) return missing;
  const kpis = Object.keys(meta.metrics).filter((name) => meta.metrics[name]?.kpi);
  const prefix = `${meta.name}.`.length;
  if (kpis.length === 0 || Object.keys(out.samples).some((name) => metricInfo(meta, name.slice(prefix)).kpi)) return [];
  return [kpis.join(' or ')];
}

async function parseRaw(meta: ProgramMeta, raw: string | Buffer, cacheDir: string): Promise<Samples> {
  const parse = await loadParser(meta, cacheDir);
  if (parse) {
    const input: Lines = typeof raw === 'string' ? linesOfFile(raw) : linesOf(raw);
    return parse(input.lines, input.context);
  }
  const executable = join(meta.dir, 'parse');
  if (!existsSync(executable) || typeof raw !== 'string') return {};
  return runForeignParser(executable, raw);
}
