export interface Mailbox {
  /** Display name, '' when none can be trusted. */
  name: string;
  /** `local@domain`, ASCII, domain in lower case. */
  address: string;
}

export type ParsedRecipient = ({ kind: 'mailbox' } & Mailbox) | { kind: 'dropped'; why: string };

// Atoms of RFC 5322 joined by single dots; no quoted locals, no address literals: mailers disagree about both.
const plainAddress =
  /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/;

const controls = /[\p{Cc}\p{Cf}\u2028\u2029]+/gu;

/**
 * Reads one mailbox out of a git author, a trailer or a configuration file: exactly one address or none, never more.
 * Git authors are hostile text: mail libraries split `a@k.org, v@x.org` or a CRLF into mailboxes of someone else's.
 * Returns the mailbox, or `dropped` with the reason to show. Source of the cases: recipient-vectors.json.
 */
export function parseRecipient(text: string): ParsedRecipient {
  const line = text.trim();
  let name = '';
  let address = line;
  if (/[<>]/.test(line)) {
    const parts = /^([^<>\r\n]*)<([^<>\r\n]*)>$/.exec(line);
    if (!parts) return { kind: 'dropped', why: nested(line) ? 'not a plain address' : 'unbalanced <>' };
    name = parts[1]!.trim();
    address = parts[2]!.trim();
  }
  if (!plainAddress.test(address) || address.includes('..')) return { kind: 'dropped', why: 'not a plain address' };

  const at = address.lastIndexOf('@');
  const local = address.slice(0, at);
  const domain = address.slice(at + 1).toLowerCase();
  if (!domain.includes('.')) return { kind: 'dropped', why: 'no full domain' };
  if (notAPerson(local, domain)) return { kind: 'dropped', why: 'not a person' };
  return { kind: 'mailbox', name: cleanName(name), address: `${local}@${domain}` };
}

/** Brackets pair up but hold more than one address: the fault is the address, not the brackets. */
function nested(line: string): boolean {
  return !/[\r\n]/.test(line) && (line.match(/</g) ?? []).length === (line.match(/>/g) ?? []).length;
}

function notAPerson(local: string, domain: string): boolean {
  if (/(^|\.)(local|localdomain|localhost|lan|internal|invalid|home\.arpa)$/.test(domain)) return true;
  if (/(^|\.)noreply\.|^no-?reply\./.test(domain)) return true;
  return /^(no-?reply|do-?not-?reply|mailer-daemon)$/i.test(local);
}

/** A name that looks like another address or like an encoded word would speak for someone else: none is better. */
function cleanName(raw: string): string {
  const quoted = /^"(.*)"$/.exec(raw);
  const name = (quoted ? quoted[1]!.replace(/\\(["\\])/g, '$1') : raw)
    .replace(controls, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return name.includes('@') || name.includes('=?') ? '' : name;
}
