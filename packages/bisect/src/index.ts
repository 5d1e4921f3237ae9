export { BisectError, type BisectErrorCode } from './errors.ts';
export { likelyNext } from './likelyNext.ts';
export { next, showsOldLevel } from './next.ts';
export {
  createSearch,
  observe,
  record,
  replay,
  type Search,
  setBudget,
  untestable,
} from './search.ts';
export { posterior } from './second.ts';
export type * from './types.ts';
