import { type Operations, operations } from './operations.ts';

/** What the server answered instead: its problem document (RFC 9457). */
export class RemoteError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
  ) {
    super(`${code}: ${detail}`);
    this.name = 'RemoteError';
  }
}

export interface RemoteClient {
  /**
   * Calls an operation of the API with its parameters and, where it takes one, its body. Throws RemoteError with the
   * server's code; KD_REMOTE_AWAY when there is no server.
   */
  call<K extends keyof Operations>(
    name: K,
    params: Operations[K]['params'],
    body?: Operations[K]['body'],
  ): Promise<Operations[K]['answer']>;
}

/** A client of the API at `url`, typed by its OpenAPI document (operations.ts is generated from it). */
export function remoteClient(options: { url: string; token?: string }): RemoteClient {
  return {
    async call(name, params, body) {
      const [method, path] = operations[name];
      const given = { ...(params as Record<string, unknown>) };
      const filled = path.replace(/\{(\w+)\}/g, (_, key: string) => {
        const value = given[key];
        delete given[key];
        if (value === undefined) throw new RemoteError(0, 'KD_REMOTE_PARAMETER', `${name} needs ${key}`);
        return encodeURIComponent(String(value));
      });
      const query = new URLSearchParams(
        Object.entries(given)
          .filter(([, value]) => value !== undefined)
          .map(([key, value]): [string, string] => [key, String(value)]),
      );
      const headers: Record<string, string> = { accept: 'application/json' };
      if (options.token) headers.authorization = `Bearer ${options.token}`;
      if (body !== undefined) headers['content-type'] = 'application/json';
      const url = `${options.url.replace(/\/$/, '')}${filled}${query.size ? `?${query}` : ''}`;
      const answer = await fetch(url, {
        method,
        headers,
        body: body === undefined ? undefined : JSON.stringify(body),
      }).catch((error: Error) => {
        throw new RemoteError(0, 'KD_REMOTE_AWAY', `no answer from ${options.url}: ${error.message}`);
      });
      const text = await answer.text();
      if (!answer.ok) throw problemOf(answer.status, text);
      return (answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text) as never;
    },
  };
}

function problemOf(status: number, text: string): RemoteError {
  try {
    const { code, detail } = JSON.parse(text) as { code: string; detail: string };
    return new RemoteError(status, code, detail);
  } catch {
    return new RemoteError(status, 'KD_REMOTE_ANSWER', `status ${status}: ${text.slice(0, 200)}`);
  }
}
