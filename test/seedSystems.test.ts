import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isNamed, shownTests } from '../scripts/shownTests.ts';

const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs/seed-systems.md'), 'utf8');
const rows = page.split('\n').filter((line) => /^\| (?!Feature|-)/.test(line));

it('each test that docs/seed-systems.md names is in its file', () => {
  const named = shownTests(page);
  expect(named.length).toBeGreaterThan(30);
  for (const { file, name } of named) {
    const path = join(root, file);
    expect(existsSync(path), file).toBe(true);
    const source = readFileSync(path, 'utf8');
    const found = ["'", '"', '`'].some((quote) => source.includes(`${quote}${name}${quote}`));
    expect(found, `${file}: no test is called “${name}”`).toBe(true);
  }
});

it('each row of docs/seed-systems.md names a test or says why there is none yet', () => {
  // The checklist that the page answers has 33 rows.
  expect(rows).toHaveLength(33);
  for (const row of rows) expect(shownTests(row).length > 0 || /not yet: \w+/.test(row), row).toBe(true);
});

it('a case of a table is known by the name of the table', () => {
  const test = { file: 'a.test.ts', name: 'reads %s (%i lines)' };
  expect(isNamed(test, 'a.test.ts', 'reads x.y (3 lines)')).toBe(true);
  expect(isNamed(test, 'a.test.ts', 'reads x.y (3 lines) twice')).toBe(false);
  expect(isNamed(test, 'b.test.ts', 'reads x.y (3 lines)')).toBe(false);
});
