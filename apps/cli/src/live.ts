import type { Event } from '@kdelta/store';

/** One line of what happens, for people: time, subject, what, and the facts that fit. */
export function eventLine(event: Event): string {
  const facts = Object.entries(event.data as Record<string, unknown>)
    .filter(([, value]) => value !== null && value !== undefined && typeof value !== 'object')
    .map(([key, value]) => `${key} ${oneLine(String(value))}`)
    .join(', ');
  const time = event.at.toISOString().slice(11, 19);
  return `${time} ${event.subject.padEnd(10)} ${event.kind}${facts ? `: ${facts}` : ''}`;
}

/** Facts come from commits, logs and consoles: nothing in them may move the cursor. */
function oneLine(text: string): string {
  const clean = text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
  return /^[0-9a-f]{40}$/.test(clean) ? clean.slice(0, 12) : clean.slice(0, 160);
}
