export * from './mail/index.ts';
export * from './mmtests/monitors.ts';
export * from './mmtests/table.ts';
export * from './reproduce.ts';
export * from './table.ts';
export * from './table-cells.ts';
export { renderExplain } from './table-explain.ts';
