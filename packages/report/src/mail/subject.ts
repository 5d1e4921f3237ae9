import type { MailFacts } from './facts.ts';
import { plainPercent } from './numbers.ts';

/** `[tree:branch] [subsys] sha10: metric N.N% regression`; the composer cuts it to 120 ASCII characters. */
export function mailSubject(facts: MailFacts): string {
  const { tree, culprit, lead } = facts;
  const subsystem = subsystemOf(culprit.subject);
  const kind = lead.verdict === 'improvement' ? 'improvement' : 'regression';
  const fixed = `[${tree.name}:${tree.branch}] ${subsystem ? `[${subsystem}] ` : ''}${culprit.sha.slice(0, 10)}: `;
  const end = ` ${plainPercent(lead.changePct ?? 0)} ${kind}`;
  // Cut the metric's name rather than the number that is the news.
  const room = 120 - fixed.length - end.length;
  const metric = lead.metric.length <= room ? lead.metric : `${lead.metric.slice(0, Math.max(1, room - 3))}...`;
  return `${fixed}${metric}${end}`;
}

/** `mm` of "mm: batch foo"; empty where the title names none. */
export function subsystemOf(title: string): string {
  return /^([A-Za-z0-9][A-Za-z0-9_/.,+ -]{0,29}):\s/.exec(title)?.[1] ?? '';
}
