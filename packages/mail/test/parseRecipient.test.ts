import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { homeDir } from '@kdelta/home';
import { expect, test } from 'vitest';
import { parseRecipient } from '../src/index.ts';

const file = join(
  process.env.KDELTA_SHARED ?? join(homeDir(), '..', 'shared'),
  'vectors',
  'mail',
  'recipient-vectors.json',
);

test('every recipient vector is parsed or dropped for the reason it names', (ctx) => {
  if (!existsSync(file)) ctx.skip(`no ${file}`);
  const vectors: { in: string; name?: string; address?: string; drop?: string }[] = JSON.parse(
    readFileSync(file, 'utf8'),
  );
  expect(vectors.length).toBeGreaterThan(20);
  for (const v of vectors) {
    const expected = v.drop ? { kind: 'dropped', why: v.drop } : { kind: 'mailbox', name: v.name, address: v.address };
    expect({ in: v.in, ...parseRecipient(v.in) }).toEqual({ in: v.in, ...expected });
  }
});
