import { expect, it } from 'vitest';
import { cacheDir } from '../src/index.ts';

it('the cache lies where the XDG specification says', () => {
  expect(cacheDir({ XDG_CACHE_HOME: '/x', HOME: '/h' })).toBe('/x/kdelta');
  expect(cacheDir({ HOME: '/h' })).toBe('/h/.cache/kdelta');
});
