/** The tables alone: what `kdelta compare` loads, without the mail. */
export * from './table.ts';
export { renderExplain } from './table-explain.ts';
