export { buildKernel, parseDebSpec } from './buildKernel.ts';
export * from './cache.ts';
export { hashFile, readArtifact, resolvePackage } from './deb.ts';
export * from './errors.ts';
export { type Lock, takeLock } from './lock.ts';
export * from './types.ts';
