import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';

/** Collects the OpenAPI 3.1 document from the route schemas; `/api/v1/openapi.json` serves it. */
export async function openapi(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'kdelta',
        version: '1',
        summary: 'Kernel performance: verdicts, boots, bisects and reports',
        description:
          'Everything that the pages show. Errors are problem documents (RFC 9457) with a stable `code`. Lists are newest first and continue with `before`.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
        contact: { name: 'kdelta' },
      } as never,
      servers: [{ url: '/', description: 'This server' }],
      tags: [
        { name: 'overview', description: 'What runs and what was found' },
        { name: 'pairs', description: 'Comparisons of two kernels' },
        { name: 'bisects', description: 'Searches for a culprit' },
        { name: 'boots', description: 'Single boots' },
        { name: 'kernels', description: 'Commits and what was built of them' },
        { name: 'history', description: 'Metrics over boots' },
        { name: 'reports', description: 'Mails, and what people decided' },
        { name: 'hosts', description: 'Test machines' },
        { name: 'trees', description: 'Watched repositories' },
        { name: 'downloads', description: 'Matrices, archives, logs' },
        { name: 'events', description: 'The audit trail, and live events' },
      ],
      components: {
        securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'A token of `kdelta token make`' } },
      },
      // Reading may be open; writing never is.
      security: [{}, { token: [] }],
    },
    transform: jsonSchemaTransform,
    transformObject: jsonSchemaTransformObject,
  });
}

const made = new WeakMap<object, object>();

/** The document; made once, when it is first asked for (it takes half a second). */
export function documentOf(app: FastifyInstance): object {
  let document = made.get(app);
  if (!document) {
    document = withoutUnused(app.swagger());
    made.set(app, document);
  }
  return document;
}

/** Every named schema is written twice, as what goes in and what comes out; what nobody refers to is left out. */
function withoutUnused<T extends object>(document: T): T {
  const { components } = document as { components?: { schemas?: Record<string, unknown> } };
  for (;;) {
    const text = JSON.stringify(document);
    const unused = Object.keys(components?.schemas ?? {}).filter(
      (name) => !text.includes(`"#/components/schemas/${name}"`),
    );
    if (!components?.schemas || !unused.length) return document;
    for (const name of unused) delete components.schemas[name];
  }
}
