export * from './graphs/faultHistogram.ts';
export * from './graphs/mapanon.ts';
export * from './mail/index.ts';
export * from './mmtests/monitors.ts';
export * from './mmtests/table.ts';
export * from './reproduce.ts';
export * from './table.ts';
export * from './table-cells.ts';
export { renderExplain } from './table-explain.ts';
