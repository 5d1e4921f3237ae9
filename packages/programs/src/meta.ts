import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { ProgramMeta } from '@kdelta/jobs';
import { LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { ProgramError } from './errors.ts';

const paramName = /^[a-z][a-z0-9_]*$/i;
const scalar = z.union([z.string(), z.number(), z.boolean()]).transform(String);

const param = z.strictObject({
  default: scalar.optional(),
  percentOf: z.enum(['nr_cpu', 'memory']).optional(),
  kind: z.enum(['string', 'int', 'seconds', 'size']).optional(),
  values: z.array(scalar).optional(),
  packages: z.record(z.string(), z.array(z.string())).optional(),
  /** For docs/programs.md. */
  help: z.string().optional(),
});

const metric = z.strictObject({
  unit: z.string().optional(),
  better: z.enum(['higher', 'lower']).optional(),
  kpi: z.boolean().optional(),
  kind: z.enum(['performance', 'latency', 'function', 'count']).optional(),
  floorPct: z.number().nonnegative().optional(),
  percent: z.boolean().optional(),
  counter: z.boolean().optional(),
});

const source = z.strictObject({
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'isn’t a SHA-256 (64 hex digits)'),
  urls: z.array(z.url({ protocol: /^https?$/ })).min(1),
  param: z.string().optional(),
});

const metricKey = z.string().refine((key) => !key.startsWith('/') || isRegex(key), 'isn’t a regular expression');

const schema = z.strictObject({
  type: z.enum(['benchmark', 'monitor', 'setup']),
  title: z.string().optional(),
  packages: z.array(z.string().regex(/^[a-z0-9][a-z0-9.+-]*$/, 'isn’t a Debian package’s name')).default([]),
  build: z.record(z.string().regex(/^[\w.-]+$/), z.array(z.string())).optional(),
  params: z.record(z.string().regex(paramName, 'isn’t a shell variable’s name'), param).default({}),
  metrics: z.record(metricKey, metric).default({}),
  required: z.array(z.string()).default([]),
  monitor: z.enum(['series', 'snapshot', 'wrap']).optional(),
  default: z.boolean().optional(),
  startsWithin: z.number().int().min(1).max(120).optional(),
  needs: z.array(z.literal('scratch_disk')).optional(),
  sources: z.record(z.string().regex(/^[A-Za-z0-9][\w.+-]*$/, 'isn’t a file name'), source).optional(),
  /** Seconds it takes with its defaults, for docs/programs.md. */
  takes: z.string().optional(),
});

const scriptOf = { benchmark: 'run', monitor: 'monitor', setup: 'setup' } as const;

/**
 * Reads `dir/meta.yaml`. The folder's name is the program's. A folder without meta.yaml is lkp-tests': its type is told by the
 * script that it has (`run`, `monitor`, `setup`; `daemon` and the rest aren't programs here: null), its parameters by the
 * `# - name` lines of the script's header.
 * Throws KD_PROGRAM_META with file, line and key.
 */
export async function readMeta(dir: string): Promise<ProgramMeta | null> {
  const file = join(dir, 'meta.yaml');
  const text = existsSync(file) ? await readFile(file, 'utf8') : undefined;
  if (text === undefined || !/^type:/m.test(text)) return foreignMeta(dir);
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter });
  const [broken] = document.errors;
  if (broken) throw metaError(file, counter.linePos(broken.pos[0]).line, broken.message.split('\n')[0] ?? 'not YAML');
  const read = schema.safeParse(document.toJS());
  if (!read.success) {
    const issue = read.error.issues[0]!;
    const node = document.getIn(issue.path as (string | number)[], true) as { range?: [number] } | undefined;
    const line = node?.range ? counter.linePos(node.range[0]).line : 1;
    throw metaError(file, line, `${issue.path.join('.') || 'the file'}: ${issue.message}`);
  }
  const meta = read.data;
  const script = scriptOf[meta.type];
  if (!existsSync(join(dir, script)))
    throw metaError(file, 1, `type: ${meta.type} needs an executable ${script} beside it`);
  if (meta.type === 'monitor' && !meta.monitor) throw metaError(file, 1, 'monitor: say series, snapshot or wrap');
  return { ...meta, name: basename(dir), dir };
}

async function foreignMeta(dir: string): Promise<ProgramMeta | null> {
  const type = (['benchmark', 'monitor', 'setup'] as const).find((kind) => existsSync(join(dir, scriptOf[kind])));
  if (!type) return null;
  const params: ProgramMeta['params'] = {};
  for (const line of (await readFile(join(dir, scriptOf[type]), 'utf8')).split('\n')) {
    if (line.trim() === '') break;
    const name = /^# [-=] ([a-z]\w*)/i.exec(line)?.[1];
    if (name) params[name] = {};
  }
  const monitor = type === 'monitor' ? { monitor: 'series' as const } : {};
  return { name: basename(dir), dir, type, packages: [], params, metrics: {}, required: [], ...monitor };
}

function isRegex(key: string): boolean {
  try {
    new RegExp(key.slice(1, key.lastIndexOf('/')));
    return key.lastIndexOf('/') > 0;
  } catch {
    return false;
  }
}

function metaError(file: string, line: number, what: string): ProgramError {
  return new ProgramError('KD_PROGRAM_META', `${file}:${line}: ${what}`);
}
