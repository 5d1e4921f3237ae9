export * from './csv.ts';
export * from './errors.ts';
export * from './mmtests.ts';
export { bootNames, MAX_CELLS, matrixFromObject, parseMatrix, readCell } from './parse.ts';
export * from './registry.ts';
export * from './samples.ts';
export * from './types.ts';
export * from './write.ts';
