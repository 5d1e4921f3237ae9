import { type Mailbox, parseRecipient } from './parseRecipient.ts';

/** The part of a tree's `mail` rules that says who gets a report. */
export interface RecipientRules {
  to: string[];
  cc: string[];
  allow: string[];
}

export interface CommitPeople {
  authorName: string;
  authorEmail: string;
  /** Commit message below the title. */
  body: string;
}

export interface Recipients {
  to: Mailbox[];
  cc: Mailbox[];
  /** Addresses (lower case) that the tree's rules name: mailing lists, as far as attachments are concerned. */
  lists: string[];
  /** Who gets nothing, and why. */
  dropped: { address: string; why: string }[];
  /** Reasons why a person must look before it is sent, whatever the tree's mode. */
  hold: string[];
}

/** More than this many recipients need a person's approval (reference: mail.md §2). */
const maxRecipients = 15;

/**
 * Who gets the report on a commit: `author` in `to` or `cc` stands for the author and Co-developed-by, with every
 * Signed-off-by in Cc (reporting-regressions.rst); never the commit's `Cc:` people. Every address is parsed, must match
 * `allow`, and appears once.
 */
export function planRecipients(commit: CommitPeople, rules: RecipientRules): Recipients {
  const r: Recipients = { to: [], cc: [], lists: [], dropped: [], hold: [] };
  const seen = new Set<string>();
  const add = (field: 'to' | 'cc', text: string, list: boolean) => {
    const parsed = parseRecipient(text);
    if (parsed.kind === 'dropped') {
      r.dropped.push({ address: text, why: parsed.why });
      return;
    }
    const key = parsed.address.toLowerCase();
    if (list && !r.lists.includes(key)) r.lists.push(key);
    if (seen.has(key)) return;
    seen.add(key);
    if (!isAllowed(parsed.address, rules.allow)) {
      r.dropped.push({ address: parsed.address, why: 'outside mail.allow of the tree' });
      return;
    }
    r[field].push({ name: parsed.name, address: parsed.address });
  };

  const people = (field: 'to' | 'cc') => {
    // An author's address that holds a bracket of its own must not be mended into a valid mailbox.
    add(field, `${commit.authorName.replace(/[<>]/g, ' ')} <${commit.authorEmail}>`, false);
    for (const t of trailers(commit.body, 'co-developed-by')) add(field, t, false);
  };
  for (const entry of rules.to) entry === 'author' ? people('to') : add('to', entry, true);
  if (rules.cc.includes('author')) people('cc');
  if (rules.to.includes('author') || rules.cc.includes('author')) {
    for (const t of trailers(commit.body, 'signed-off-by')) add('cc', t, false);
  }
  for (const entry of rules.cc) if (entry !== 'author') add('cc', entry, true);

  // A mail needs somebody in To: with only Cc left, the first of them moves up.
  if (!r.to.length && r.cc.length) r.to.push(r.cc.shift()!);
  if (!r.to.length) r.hold.push('nobody is left to mail');
  if (r.to.length + r.cc.length > maxRecipients) r.hold.push(`more than ${maxRecipients} recipients`);
  if (r.dropped.length) r.hold.push(`${r.dropped.length} address${r.dropped.length > 1 ? 'es were' : ' was'} dropped`);
  return r;
}

/**
 * Whether an address matches one of the patterns. `*` stands for any characters but `@`, case is ignored, and an empty
 * list allows nobody.
 */
export function isAllowed(address: string, allow: string[]): boolean {
  return allow.some((pattern) => {
    const parts = pattern.split('*').map((s) => s.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    return new RegExp(`^${parts.join('[^@]*')}$`, 'i').test(address);
  });
}

/** Values of one trailer, at column 0 only: quoted messages are indented. */
function trailers(body: string, name: string): string[] {
  const values: string[] = [];
  for (const line of body.split(/\r?\n/)) {
    const m = /^([A-Za-z-]+):[ \t]*(.*)$/.exec(line);
    if (m && m[1]!.toLowerCase() === name) values.push(m[2]!.trim());
  }
  return values;
}
