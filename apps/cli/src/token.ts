import { openContext } from '@kdelta/steps';
import { appendEvent, listTokens, makeToken, revokeToken } from '@kdelta/store';
import { Command, InvalidArgumentError } from 'commander';
import { openLog, outcome } from './outcome.ts';

const SCOPES = ['bisect', 'report', 'admin'];

/** `kdelta token make|list|revoke`: who may change things over HTTP. */
export function tokenCommand(): Command {
  const token = new Command('token').description('tokens for the API and the dashboard: make, list, revoke');
  token
    .command('make')
    .description('make a token; it is printed once and kept as a hash only')
    .argument('<name>', 'who or what it is for; stands in the audit trail')
    .option(
      '--scope <scopes>',
      `what it may do, separated by commas: ${SCOPES.join(', ')}; none: read only`,
      readScopes,
      [],
    )
    .option('--days <n>', 'days until it expires; without it, it stays valid until it is revoked', readDays)
    .option('--config <file>', 'kdelta.yaml')
    .option('--json', 'print {"id", "token", "scopes", "expires_at"}')
    .action((name: string, options: { scope: string[]; days?: number; config?: string; json?: boolean }) =>
      withStore(options, async (pool) => {
        const expiresAt = options.days === undefined ? null : new Date(Date.now() + options.days * 86_400_000);
        const made = await makeToken(pool, { name, scopes: options.scope, expiresAt });
        await appendEvent(pool, {
          kind: 'token.make',
          subject: `token:${made.id}`,
          actor: 'cli',
          data: { name, scopes: options.scope.join(','), expires: expiresAt?.toISOString() ?? null },
        });
        const answer = { ...made, scopes: options.scope, expires_at: expiresAt };
        process.stdout.write(options.json ? `${JSON.stringify(answer)}\n` : `${made.token}\n`);
        return 0;
      }),
    );
  token
    .command('list')
    .description('tokens that were made, without their text')
    .option('--config <file>', 'kdelta.yaml')
    .option('--json', 'print {"tokens": [...]}')
    .action((options: { config?: string; json?: boolean }) =>
      withStore(options, async (pool) => {
        const tokens = await listTokens(pool);
        if (options.json) process.stdout.write(`${JSON.stringify({ tokens })}\n`);
        else
          for (const row of tokens) {
            const state = row.revoked_at
              ? `revoked ${row.revoked_at.toISOString()}`
              : row.expires_at
                ? `until ${row.expires_at.toISOString()}`
                : 'valid';
            const used = row.used_at ? `used ${row.used_at.toISOString()}` : 'never used';
            process.stdout.write(`${row.id}\t${row.name}\t${row.scopes.join(',') || 'read'}\t${state}\t${used}\n`);
          }
        return 0;
      }),
    );
  token
    .command('revoke')
    .description('end a token and every session that was begun with it')
    .argument('<id-or-name>')
    .option('--config <file>', 'kdelta.yaml')
    .option('--json', 'print {"revoked": [ids]}')
    .action((which: string, options: { config?: string; json?: boolean }) =>
      withStore(options, async (pool) => {
        const revoked = await revokeToken(pool, which);
        for (const id of revoked)
          await appendEvent(pool, { kind: 'token.revoke', subject: `token:${id}`, actor: 'cli', data: { which } });
        if (options.json) process.stdout.write(`${JSON.stringify({ revoked })}\n`);
        else if (revoked.length) process.stdout.write(`revoked ${revoked.join(', ')}\n`);
        else process.stderr.write(`KD_TOKEN_UNKNOWN: no valid token ${which}; \`kdelta token list\` shows them\n`);
        return revoked.length ? 0 : 2;
      }),
    );
  return token;
}

type Pool = Awaited<ReturnType<typeof openContext>>['ctx']['store']['pool'];

function withStore(options: { config?: string }, work: (pool: Pool) => Promise<0 | 2>) {
  return outcome(async (signal) => {
    const world = await openContext({ log: openLog('warn'), signal, configFile: options.config });
    try {
      return await work(world.ctx.store.pool);
    } finally {
      await world.close();
    }
  });
}

function readScopes(text: string): string[] {
  const scopes = text.split(',').map((scope) => scope.trim());
  const wrong = scopes.find((scope) => !SCOPES.includes(scope));
  if (wrong !== undefined) throw new InvalidArgumentError(`"${wrong}" is no scope; there are ${SCOPES.join(', ')}`);
  return scopes;
}

function readDays(text: string): number {
  const days = Number(text);
  if (!(days > 0 && days < 3660)) throw new InvalidArgumentError('give a number of days, up to 3660');
  return days;
}
