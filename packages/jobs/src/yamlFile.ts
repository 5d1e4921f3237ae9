import {
  type Document,
  isMap,
  isScalar,
  LineCounter,
  type Node,
  type Pair,
  parseAllDocuments,
  type Scalar,
} from 'yaml';
import type { z } from 'zod';
import { InputError } from './errors.ts';
import { suggestion } from './nearest.ts';

type Code = InputError['code'];

/** One YAML document that remembers where its keys stand. */
export interface YamlFile {
  file: string;
  code: Code;
  document: Document.Parsed;
  lines: LineCounter;
}

/** All documents of a file; throws KD_YAML_SYNTAX with the line, for duplicate keys and aliases that explode too. */
export function readYaml(text: string, file: string, code: Code): YamlFile[] {
  const lines = new LineCounter();
  // yaml reports a repeated key at its map's beginning; the second key is what the reader looks for.
  let repeated: Scalar | null = null;
  const sameKey = (a: unknown, b: unknown): boolean => {
    const same = isScalar(a) && isScalar(b) && a.value === b.value;
    if (same) repeated ??= b;
    return same;
  };
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: sameKey });
  const list = Array.isArray(documents) ? documents : [];
  for (const document of list) {
    const error = document.errors[0];
    if (!error) continue;
    const key = error.code === 'DUPLICATE_KEY' ? (repeated as Scalar | null) : null;
    const line = lines.linePos(key?.range?.[0] ?? error.pos[0]).line;
    if (key) throw new InputError('KD_YAML_SYNTAX', file, line, String(key.value), 'is there twice; drop one');
    throw new InputError('KD_YAML_SYNTAX', file, line, '', error.message);
  }
  return list.map((document) => ({ file, code, document, lines }));
}

/** Line of the key that `path` names, or of its nearest parent that exists. */
export function lineOf(yaml: YamlFile, path: (string | number)[]): number {
  for (let length = path.length; length > 0; length--) {
    const parent = yaml.document.getIn(path.slice(0, length - 1), true);
    const last = path[length - 1];
    const pair = isMap(parent) ? parent.items.find((item) => keyOf(item as Pair) === String(last)) : undefined;
    const node = (pair?.key ?? yaml.document.getIn(path.slice(0, length), true)) as Node | undefined;
    if (node?.range) return yaml.lines.linePos(node.range[0]).line;
  }
  const start = yaml.document.contents?.range?.[0];
  return start === undefined ? 1 : yaml.lines.linePos(start).line;
}

export function fail(yaml: YamlFile, path: (string | number)[], what: string): never {
  throw new InputError(yaml.code, yaml.file, lineOf(yaml, path), path.join('.'), what);
}

/** Checks a document against a schema; the first fault becomes an InputError with file, line and key. */
export function checkYaml<S extends z.ZodType>(yaml: YamlFile, schema: S): z.output<S> {
  const value = yaml.document.toJS({ maxAliasCount: 100 });
  if (value === null || typeof value !== 'object' || Array.isArray(value)) fail(yaml, [], 'must be a map of keys');
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = deepest(result.error.issues[0]!);
  const path = issue.path as (string | number)[];
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0]!;
    fail(yaml, [...path, key], `unknown key${suggestion(key, knownKeys(schema, path))}`);
  }
  const got = yaml.document.getIn(path);
  fail(yaml, path, got === undefined ? missing(issue.message) : issue.message.replace(/^Invalid input: /, ''));
}

function missing(message: string): string {
  return /received undefined/.test(message)
    ? `is missing (${message.replace(/^Invalid input: /, '').replace(/, received undefined$/, '')})`
    : message;
}

/** The fault inside the alternative of a union that came nearest: the one whose fault lies deepest. */
function deepest(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return issue;
  const candidates = issue.errors
    .filter((list) => list.length > 0)
    .map((list) => deepest({ ...list[0]!, path: [...issue.path, ...list[0]!.path] }));
  const best = candidates.sort((a, b) => b.path.length - a.path.length || rank(a) - rank(b))[0];
  return best ?? issue;
}

const rank = (issue: z.core.$ZodIssue): number => (issue.code === 'unrecognized_keys' ? 0 : 1);

/** Keys that the schema knows at `path`, for suggestions. */
function knownKeys(schema: unknown, path: (string | number)[]): string[] {
  let nodes: unknown[] = [schema];
  const open = (node: unknown): unknown[] => {
    const def = (node as { def?: Record<string, unknown> })?.def;
    if (!def) return [];
    if (def.type === 'union') return (def.options as unknown[]).flatMap(open);
    if (def.innerType) return open(def.innerType);
    if (def.type === 'pipe') return open(def.in);
    return [node];
  };
  for (const step of path) {
    nodes = nodes.flatMap(open).flatMap((node) => {
      const def = (node as { def: Record<string, unknown> }).def;
      if (def.type === 'object') return [(def.shape as Record<string, unknown>)[String(step)]];
      if (def.type === 'array') return [def.element];
      if (def.type === 'record') return [def.valueType];
      return [];
    });
  }
  return nodes.flatMap(open).flatMap((node) => {
    const def = (node as { def: Record<string, unknown> }).def;
    return def.type === 'object' ? Object.keys(def.shape as object) : [];
  });
}

function keyOf(pair: Pair): string {
  return String(isScalar(pair.key) ? pair.key.value : pair.key);
}

/** A scalar as it was written (`0x10`, `010`, `1e3` stay), null for an empty one; undefined when it isn't a scalar. */
export function scalarText(node: unknown): string | null | undefined {
  if (node === null || node === undefined) return null;
  if (!isScalar(node)) return undefined;
  if (node.value === null) return null;
  return typeof node.value === 'string' ? node.value : (node.source ?? String(node.value));
}
