import { suggestion } from '@kdelta/jobs';
import { Command } from 'commander';
import { RemoteError, remoteClient } from './remote/client.ts';
import { operations } from './remote/operations.ts';

/** `kdelta remote OPERATION key=value…`: any operation of a remote server's API, as JSON. */
export function remoteCommand(): Command {
  return new Command('remote')
    .description('call the API of a kdelta elsewhere (KDELTA_URL, KDELTA_TOKEN)')
    .argument('[operation]', 'name of an operation; without one they are listed')
    .argument('[values...]', 'parameters, key=value; what is no parameter goes into the body')
    .option('--url <url>', 'the server', process.env.KDELTA_URL)
    .action(async (name: string | undefined, values: string[], options: { url?: string }) => {
      process.exitCode = await run(name, values, options.url);
    });
}

async function run(name: string | undefined, values: string[], url: string | undefined): Promise<number> {
  if (name === undefined) {
    for (const [operation, [method, path]] of Object.entries(operations))
      process.stdout.write(`${operation.padEnd(22)} ${method.padEnd(5)} ${path}\n`);
    return 0;
  }
  const fail = (text: string) => {
    process.stderr.write(`${text}\n`);
    return 2;
  };
  if (!(name in operations))
    return fail(`KD_REMOTE_OPERATION: no operation ${name}${suggestion(name, Object.keys(operations))}`);
  if (!url) return fail('KD_REMOTE_URL: set KDELTA_URL or give --url');
  const operation = name as keyof typeof operations;
  const [method, path] = operations[operation];
  const params: Record<string, string> = {};
  const body: Record<string, unknown> = {};
  for (const value of values) {
    const at = value.indexOf('=');
    if (at < 1) return fail(`KD_REMOTE_PARAMETER: "${value}" is not key=value`);
    const [key, text] = [value.slice(0, at), value.slice(at + 1)];
    if (method === 'GET' || path.includes(`{${key}}`)) params[key] = text;
    else body[key] = /^-?\d+(\.\d+)?$/.test(text) && !/^(good|bad|testcase)$/.test(key) ? Number(text) : text;
  }
  try {
    const client = remoteClient({ url, token: process.env.KDELTA_TOKEN });
    const answer = await client.call(
      operation,
      params as never,
      (Object.keys(body).length ? body : undefined) as never,
    );
    process.stdout.write(typeof answer === 'string' ? answer : `${JSON.stringify(answer, null, 2)}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof RemoteError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return error.status >= 400 && error.status < 500 ? 2 : 3;
  }
}
