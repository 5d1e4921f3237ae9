/** TypeScript of an OpenAPI document: one interface per schema, one entry per operation. */
interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  prefixItems?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
}
interface Operation {
  operationId: string;
  summary?: string;
  parameters?: { name: string; in: string; required?: boolean; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}

export function clientTypes(document: {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}): string {
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const lines = [
    '// Generated from the OpenAPI document of apps/server by its test (UPDATE_CLIENT=1); do not edit.',
    '',
    ...Object.entries(document.components.schemas).map(([name, schema]) => `export type ${name} = ${typeOf(schema)};`),
    '',
    'export interface Operations {',
    ...all.flatMap(({ operation }) => [
      `  /** ${operation.summary ?? ''} */`,
      `  ${operation.operationId}: { params: ${paramsOf(operation)}; body: ${bodyOf(operation)}; answer: ${answerOf(operation)} };`,
    ]),
    '}',
    '',
    'export const operations = {',
    ...all.map(({ path, method, operation }) => `  ${operation.operationId}: ['${method}', '${path}'],`),
    '} as const satisfies Record<keyof Operations, readonly [method: string, path: string]>;',
    '',
  ];
  return lines.join('\n');
}

function typeOf(schema: Schema | undefined): string {
  if (!schema) return 'unknown';
  if (schema.$ref) return schema.$ref.split('/').at(-1)!;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const union = schema.anyOf ?? schema.oneOf;
  if (union) return union.map(typeOf).join(' | ');
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(' | ');
  if (schema.prefixItems) return `[${schema.prefixItems.map(typeOf).join(', ')}]`;
  if (schema.type === 'array') return `(${typeOf(schema.items)})[]`;
  if (schema.type === 'object' || schema.properties) return objectOf(schema);
  if (schema.type === 'integer') return 'number';
  return ['string', 'number', 'boolean', 'null'].includes(schema.type ?? '') ? schema.type! : 'unknown';
}

function objectOf(schema: Schema): string {
  if (!schema.properties) {
    const values = typeof schema.additionalProperties === 'object' ? typeOf(schema.additionalProperties) : 'unknown';
    return `Record<string, ${values}>`;
  }
  const fields = Object.entries(schema.properties).map(
    ([name, own]) => `${JSON.stringify(name)}${schema.required?.includes(name) ? '' : '?'}: ${typeOf(own)}`,
  );
  return `{ ${fields.join('; ')} }`;
}

function paramsOf(operation: Operation): string {
  const fields = (operation.parameters ?? []).map(
    (p) => `${JSON.stringify(p.name)}${p.in === 'path' ? '' : '?'}: ${typeOf(p.schema)}`,
  );
  return fields.length ? `{ ${fields.join('; ')} }` : 'Record<string, never>';
}

const bodyOf = (operation: Operation) =>
  operation.requestBody ? typeOf(operation.requestBody.content['application/json']?.schema) : 'undefined';

const answerOf = (operation: Operation) => {
  const content = operation.responses[200]?.content ?? {};
  return content['application/json'] ? typeOf(content['application/json'].schema) : 'string';
};
