import { expect, test } from 'vitest';
import { isAllowed, planRecipients } from '../src/index.ts';

const rules = { to: ['author'], cc: ['linux-mm@lists.example.org'], allow: ['*@example.org', '*@lists.example.org'] };
const commit = (authorName: string, authorEmail: string, body = '') => ({ authorName, authorEmail, body });
const addresses = (boxes: { address: string }[]) => boxes.map((b) => b.address);

test('an author whose address holds two addresses is mailed to neither', () => {
  const r = planRecipients(commit('A', 'a@example.org, v@example.org'), { ...rules, cc: [] });
  expect(r.to).toEqual([]);
  expect(r.hold).toContain('nobody is left to mail');
});

test('an author name with a line break and Bcc is dropped', () => {
  const r = planRecipients(commit('Evil\r\nBcc: v@example.org', 'a@example.org'), { ...rules, cc: [] });
  expect(r.to).toEqual([]);
  expect(r.dropped[0]?.why).toBe('unbalanced <>');
});

test('author, committer and reviewer in one person is one recipient', () => {
  const body = 'Signed-off-by: A Person <a@example.org>\nsigned-off-by: "A. Person" <A@example.org>\n';
  const r = planRecipients(commit('A Person', 'a@example.org', body), rules);
  expect(addresses(r.to)).toEqual(['a@example.org']);
  expect(addresses(r.cc)).toEqual(['linux-mm@lists.example.org']);
  expect(r.hold).toEqual([]);
});

test('co-developers are addressed, signers copied, Cc people and misspelt trailers are not', () => {
  const body = [
    'Cc: stranger@example.org',
    'Co-developed-by: C <c@example.org>',
    'signed-off-by: S <s@example.org>',
    'Singed-off-by: X <x@example.org>',
    '    Signed-off-by: Quoted <q@example.org>',
  ].join('\n');
  const r = planRecipients(commit('A', 'a@example.org', body), rules);
  expect(addresses(r.to)).toEqual(['a@example.org', 'c@example.org']);
  expect(addresses(r.cc)).toEqual(['s@example.org', 'linux-mm@lists.example.org']);
  expect(r.lists).toEqual(['linux-mm@lists.example.org']);
});

test('sixty trailers are held for a person', () => {
  const body = Array.from({ length: 60 }, (_, i) => `Signed-off-by: P${i} <p${i}@example.org>`).join('\n');
  expect(planRecipients(commit('A', 'a@example.org', body), rules).hold).toContain('more than 15 recipients');
});

test('who is outside the allow-list is dropped, shown and held', () => {
  const r = planRecipients(commit('A', 'a@kernel.org'), rules);
  expect(addresses(r.to)).toEqual(['linux-mm@lists.example.org']);
  expect(r.dropped).toEqual([{ address: 'a@kernel.org', why: 'outside mail.allow of the tree' }]);
  expect(r.hold).toEqual(['1 address was dropped']);
});

test('an empty allow-list allows nobody, and a star never crosses the @', () => {
  expect(isAllowed('a@example.org', [])).toBe(false);
  expect(isAllowed('a@example.org', ['*'])).toBe(false);
  expect(isAllowed('a@example.org', ['*@example.org'])).toBe(true);
  expect(isAllowed('A@EXAMPLE.org', ['*@example.org'])).toBe(true);
  expect(isAllowed('a@evil-example.org', ['*@example.org'])).toBe(false);
  expect(isAllowed('a@example.org.evil.net', ['*@example.org'])).toBe(false);
  expect(isAllowed('a@exampleXorg', ['*@example.org'])).toBe(false);
});
