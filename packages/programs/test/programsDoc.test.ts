import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { homeDir } from '@kdelta/home';
import { expect, it } from 'vitest';
import { programsDoc } from '../../../scripts/programsDoc.ts';

it('docs/programs.md is what npm run docs:programs writes from the folders', async () => {
  expect(readFileSync(join(homeDir(), 'docs/programs.md'), 'utf8')).toBe(await programsDoc());
});
