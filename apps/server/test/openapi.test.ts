import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { homeDir } from '@kdelta/home';
import { Validator } from '@seriousme/openapi-schema-validator';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientTypes } from './clientTypes.ts';
import { type Lab, openLab } from './lab.ts';

interface Schema {
  type?: string | string[];
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  pattern?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
}
interface Operation {
  operationId: string;
  summary?: string;
  tags?: string[];
  security?: object[];
  parameters?: { name: string; in: 'path' | 'query' | 'header'; required?: boolean; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { description?: string; content?: Record<string, unknown> }>;
}
interface Document {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
  tags: { name: string }[];
}

let lab: Lab;
let document: Document;
let operations: { method: string; path: string; operation: Operation }[];
beforeAll(async () => {
  lab = await openLab();
  document = (await lab.app.inject({ url: '/api/v1/openapi.json' })).json();
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
});
afterAll(() => lab.close());

describe('the OpenAPI document', () => {
  it('passes a validator that has the official schema of OpenAPI 3.1', async () => {
    // For linters with more opinions: docs/api.md.
    if (process.env.OPENAPI_FILE) writeFileSync(process.env.OPENAPI_FILE, JSON.stringify(document, null, 1));
    const found = await new Validator().validate(structuredClone(document) as never);
    expect(found.errors).toBeUndefined();
    expect(found.valid).toBe(true);
    const broken = structuredClone(document);
    (broken.paths['/api/v1/pairs']!.get as { responses: unknown }).responses = [];
    expect((await new Validator().validate(broken as never)).valid).toBe(false);
  });

  it('is of version 3.1 and names, tags, describes and secures every operation', () => {
    expect(document.openapi).toBe('3.1.0');
    const tags = document.tags.map((tag) => tag.name);
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { method, path, operation } of operations) {
      const where = `${method} ${path}`;
      expect(operation.operationId, where).toMatch(/^[a-z][A-Za-z]+$/);
      expect(operation.summary, where).toBeTruthy();
      expect(tags, where).toContain(operation.tags?.[0]);
      expect(Object.keys(operation.responses), where).toEqual(expect.arrayContaining(['200', '400', '401', '404']));
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const declared = (operation.parameters ?? []).filter((p) => p.in === 'path').map((p) => p.name);
      expect(declared.sort(), where).toEqual(inPath.sort());
      if (method !== 'GET' && operation.operationId !== 'pokeTree')
        expect(operation.security, where).toEqual([{ token: [] }]);
    }
  });

  it('refers to no schema that it lacks', () => {
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(
      ([, name]) => name!,
    );
    expect(refs.length).toBeGreaterThan(0);
    for (const name of refs) expect(document.components.schemas).toHaveProperty(name);
  });
});

describe('the client of the command', () => {
  it('has the types of this document', () => {
    const file = join(homeDir(), 'apps', 'cli', 'src', 'remote', 'operations.ts');
    const made = clientTypes(document as never);
    if (process.env.UPDATE_CLIENT) writeFileSync(file, made);
    // The formatter may have broken lines since; the words are the same.
    const words = (text: string) => text.replace(/[^\w/]+/g, ' ');
    expect(words(readFileSync(file, 'utf8'))).toBe(words(made));
  });
});

const wholeNumber = (min: number, max: number) =>
  fc.integer({ min: Math.ceil(min), max: Math.max(Math.ceil(min), Math.min(Math.floor(max), 1000)) });

/** Values for a schema: mostly fitting, and a third of the time whatever a stranger might send. */
function valuesOf(schema: Schema, name: string): fc.Arbitrary<unknown> {
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  const hostile = fc.oneof(
    fc.string({ maxLength: 300 }),
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.constantFrom(
      "' or 1=1 --",
      '../../etc/passwd',
      '<script>',
      '\u202e',
      '%00',
      '0',
      '-1',
      '1e309',
      'NaN',
      '[]',
      '{}',
      '🦀',
    ),
    fc.integer(),
    fc.double(),
  );
  const known: Record<string, fc.Arbitrary<unknown>> = {
    id: fc.integer({ min: 1, max: 6 }),
    sha: fc.constantFrom(...lab.ids.shas, lab.ids.shas[0]!.slice(0, 9)),
    tree: fc.constant('linus'),
    name: fc.constantFrom('linus', 'qemu-icount', 'console.log', 'raw.tar.gz'),
    metric: fc.constantFrom(lab.ids.kpi, 'meminfo.Slab'),
    file: fc.constantFrom('dbench-100%-6s.json', 'dbench-100%-6s.csv', 'base.matrix.json', 'head.matrix.csv'),
  };
  const fitting = schema.enum
    ? fc.constantFrom(...schema.enum)
    : type === 'integer' || type === 'number'
      ? wholeNumber(schema.minimum ?? -5, schema.maximum ?? 1000)
      : type === 'array'
        ? fc.array(valuesOf(schema.items ?? {}, ''), { maxLength: 3 })
        : type === 'object'
          ? fc.record(
              Object.fromEntries(
                Object.entries(schema.properties ?? {}).map(([key, own]) => [key, valuesOf(own, key)]),
              ),
            )
          : fc.string({ maxLength: 20 });
  return fc.oneof(
    { weight: 4, arbitrary: known[name] ?? fitting },
    { weight: 2, arbitrary: fitting },
    { weight: 3, arbitrary: hostile },
  );
}

describe('2,000 requests made from the OpenAPI document', () => {
  it('are answered without a single 5xx, and errors are problem documents', { timeout: 180_000 }, async () => {
    const token = await lab.token(['admin']);
    // A stream never ends; live.test.ts has it.
    const fuzzed = operations.filter(({ operation }) => operation.operationId !== 'streamEvents');
    const wish = fc.constantFrom(...fuzzed).chain(({ method, path, operation }) =>
      fc
        .record({
          parameters: fc.record(
            Object.fromEntries(
              (operation.parameters ?? []).map((p) => [
                `${p.in}.${p.name}`,
                fc.option(valuesOf(p.schema, p.name), { nil: undefined, freq: p.in === 'path' ? 1000 : 2 }),
              ]),
            ),
          ),
          body: operation.requestBody
            ? fc.oneof(
                { weight: 5, arbitrary: valuesOf(operation.requestBody.content['application/json']?.schema ?? {}, '') },
                { weight: 1, arbitrary: fc.jsonValue() },
              )
            : fc.constant(undefined),
          signed: fc.boolean(),
        })
        .map((parts) => ({ method, path, ...parts })),
    );
    const seen: Record<number, number> = {};
    for (const { method, path, parameters, body, signed } of fc.sample(wish, { numRuns: 2000, seed: 61112 })) {
      const given = parameters as Record<string, unknown>;
      const url = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(wellFormed(given[`path.${name}`] ?? '')));
      const query = new URLSearchParams(
        Object.entries(given)
          .filter(([key, value]) => key.startsWith('query.') && value !== undefined)
          .map(([key, value]): [string, string] => [key.slice(6), wellFormed(value)]),
      );
      const answer = await lab.app.inject({
        method: method as 'GET',
        url: `${url}?${query}`,
        headers: signed ? { authorization: `Bearer ${token}` } : {},
        ...(body === undefined
          ? {}
          : {
              payload: JSON.stringify(body) as never,
              headers: { 'content-type': 'application/json', ...(signed ? { authorization: `Bearer ${token}` } : {}) },
            }),
      });
      seen[answer.statusCode] = (seen[answer.statusCode] ?? 0) + 1;
      expect(
        answer.statusCode,
        `${method} ${url}?${query} ${JSON.stringify(body)}: ${answer.body.slice(0, 300)}`,
      ).toBeLessThan(500);
      if (answer.statusCode >= 400) {
        expect(answer.headers['content-type'], url).toContain('application/problem+json');
        expect(answer.json()).toMatchObject({ status: answer.statusCode, code: expect.stringMatching(/^KD_/) });
      }
    }
    // The document must lead to answers too, or the test would say nothing.
    expect(seen[200]).toBeGreaterThan(200);
  });
});

const wellFormed = (value: unknown) => String(value).replace(/[\ud800-\udfff]/g, '\ufffd');
