export * from './checkout.ts';
export * from './commit.ts';
export * from './errors.ts';
export * from './filesOfRange.ts';
export { type GitOptions, type GitResult, runGit, tryGit } from './git.ts';
export * from './mirror.ts';
export * from './range.ts';
export * from './readCommits.ts';
export * from './revert.ts';
