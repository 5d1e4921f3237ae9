/**
 * Rows of big tables as text. Two hundred rows are five thousand elements; as components they cost 10 ms of a page, as
 * text half a millisecond (docs/server-speed.md). Everything that isn't ours goes through `esc`.
 */
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Text for an element or a quoted attribute. */
export function esc(text: string): string {
  return /[&<>"']/.test(text) ? text.replace(/[&<>"']/g, (c) => ENTITIES[c]!) : text;
}
