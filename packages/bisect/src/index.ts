export { BisectError, type BisectErrorCode } from './errors.ts';
export { next } from './next.ts';
export {
  createSearch,
  observe,
  posterior,
  record,
  replay,
  type Search,
  setBudget,
  untestable,
} from './search.ts';
export type * from './types.ts';
