import { type Frame, page } from '../../parts/layout.tsx';

interface Operation {
  operationId?: string;
  summary?: string;
  description?: string;
  tags?: string[];
  security?: unknown[];
  parameters?: {
    name: string;
    in: string;
    required?: boolean;
    description?: string;
    schema?: Record<string, unknown>;
  }[];
}
interface Document {
  paths?: Record<string, Record<string, Operation>>;
  tags?: { name: string; description?: string }[];
}

/** The OpenAPI document as a page to read. */
export function renderApi(frame: Frame, document: Document): string {
  const operations = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  return page(frame, {
    title: 'API',
    children: (
      <>
        <h1>API</h1>
        <p>
          Everything that the pages show, as JSON. <a href="/api/v1/openapi.json">openapi.json</a> (OpenAPI 3.1)
          describes it. Writing needs <code>Authorization: Bearer kd_…</code> with a token of{' '}
          <code>kdelta token make</code>. Errors are problem documents (RFC 9457) with a stable <code>code</code>. Lists
          are newest first and go on with <code>before=&lt;next&gt;</code>.
        </p>
        <pre tabIndex={0}>{`curl -s ${frame.ctx.config.url}/api/v1/pairs?verdict=regression
curl -s ${frame.ctx.config.url}/matrix/TREE/SHA/TESTCASE.json > head.json    # ?lkp=1: 0 instead of null
curl -s -XPOST ${frame.ctx.config.url}/api/v1/trees/TREE/poke                # for git hooks
KDELTA_URL=${frame.ctx.config.url} KDELTA_TOKEN=kd_… kdelta remote listPairs verdict=regression`}</pre>
        {(document.tags ?? []).map((tag) => (
          <section aria-labelledby={`tag-${tag.name}`}>
            <h2 id={`tag-${tag.name}`}>
              {tag.name} <small>{tag.description}</small>
            </h2>
            {operations
              .filter(({ operation }) => operation.tags?.[0] === tag.name)
              .map(({ path, method, operation }) => (
                <details class="operation" id={operation.operationId}>
                  <summary>
                    <code class={`method ${method}`}>{method}</code> <code>{path}</code>{' '}
                    <span class="quiet">{operation.summary}</span>
                  </summary>
                  {operation.description ? <p>{operation.description}</p> : null}
                  {operation.parameters?.length ? (
                    <table>
                      <thead>
                        <tr>
                          <th scope="col">Parameter</th>
                          <th scope="col">In</th>
                          <th scope="col">Type</th>
                          <th scope="col">Meaning</th>
                        </tr>
                      </thead>
                      <tbody>
                        {operation.parameters.map((parameter) => (
                          <tr>
                            <th scope="row">
                              <code>{parameter.name}</code>
                              {parameter.required ? ' *' : ''}
                            </th>
                            <td>{parameter.in}</td>
                            <td>
                              <code>{typeText(parameter.schema)}</code>
                            </td>
                            <td>{parameter.description}</td>
                          </tr>
                        ))}
                      </tbody>
                    </table>
                  ) : null}
                </details>
              ))}
          </section>
        ))}
      </>
    ),
  });
}

function typeText(schema: Record<string, unknown> | undefined): string {
  if (!schema) return '';
  if (Array.isArray(schema.enum)) return schema.enum.join(' | ');
  const limits = ['minimum', 'maximum', 'maxLength', 'pattern', 'default']
    .filter((key) => schema[key] !== undefined)
    .map((key) => `${key} ${schema[key]}`);
  return [schema.type, ...limits].join(', ');
}
