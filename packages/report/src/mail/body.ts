import { WITHIN_BOOT } from '@kdelta/matrix';
import { isReported } from '@kdelta/stats';
import { renderTable } from '../table.ts';
import type { MailFacts } from './facts.ts';
import { article, mean, plainPercent, rawValue, signedPercent } from './numbers.ts';

const maxRows = 40;
const maxCommands = 16;

/**
 * The text of a report's mail, in the order of the mail reference §1: finding, commit, testcase and host, how sure, raw
 * boots, tags, link, table, how to reproduce. Lines end in `\n` and are never wrapped inside the table. The signature is
 * added when it is sent, because it says who approved it.
 */
export function mailBody(facts: MailFacts): string {
  return [
    'Hello,',
    finding(facts),
    commit(facts),
    place(facts),
    howSure(facts),
    raw(facts),
    tags(facts),
    `Config, job file, console logs, all ${facts.deltas.length} metrics, matrix as JSON:\n${facts.links.report}`,
    table(facts),
    reproduce(facts),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
    .concat('\n');
}

/** `-- ` and below: who sent it, and whether a person read it. Addresses stand here only (b4 reads tags above). */
export function mailSignature(from: string, approvedBy: string | null): string {
  const how = approvedBy
    ? `Read and approved by ${approvedBy} before it was sent.`
    : 'Sent by itself, as the rules of this tree allow.';
  return `\n-- \nkdelta, a kernel performance regression bot. ${how}\nPeople: ${/<([^>]*)>/.exec(from)?.[1] ?? from}\n`;
}

function finding({ lead }: MailFacts): string {
  const size = plainPercent(lead.changePct ?? 0);
  const kind = lead.verdict === 'improvement' ? 'improvement' : 'regression';
  const unit = lead.unit ? ` ${lead.unit}` : '';
  const direction = lead.better ? `${lead.better} is better` : 'no direction known';
  const interval = lead.ci95Pct
    ? `95% interval ${signedPercent(lead.ci95Pct[0])} .. ${signedPercent(lead.ci95Pct[1])}, `
    : '';
  return (
    `kdelta measured ${article(size)} ${size} ${kind} of ${lead.metric} (${direction};\n` +
    `${mean(lead.base.mean)}${unit} -> ${mean(lead.head.mean)}${unit}, ${interval}${lead.base.n} + ${lead.head.n} boots), caused by`
  );
}

function commit({ culprit, tree }: MailFacts): string {
  const lines = [`commit: ${culprit.sha} ("${culprit.subject}")`, `tree:   ${tree.name}/${tree.branch}, ${tree.url}`];
  if (culprit.patchUrl) lines.push(`patch:  ${culprit.patchUrl}`);
  return lines.join('\n');
}

function place({ testcase, kernel, host }: MailFacts): string {
  const params = Object.entries(testcase.params).map(([key, value]) => `${key}=${value}`);
  return [
    `testcase:   ${[testcase.name, params.join(' ')].filter(Boolean).join(', ')}`,
    `config:     ${kernel.kconfig}      compiler: ${kernel.compiler}`,
    `host:       ${[host.tboxGroup, host.description].filter(Boolean).join(', ')}`,
  ].join('\n');
}

function howSure({ search, verified, lead, host }: MailFacts): string {
  const lines = ['How sure'];
  const point = (name: string, ...text: string[]) => {
    lines.push(`  ${name.padEnd(11)} ${text[0]}`, ...text.slice(1).map((t) => `${' '.repeat(14)}${t}`));
  };
  if (search) {
    const untestable =
      search.untestable === 0
        ? []
        : [
            `${search.untestable} of them did not build or boot, ${
              search.untestableAdjacent ? 'one is next to the culprit' : 'none is next to the culprit'
            }`,
          ];
    point(
      'culprit',
      `${certainty(search.certainty)} after ${search.boots} boots of ${search.kernels} kernels; the range had ${search.commits} commits${untestable.length ? ',' : ''}`,
      ...untestable,
    );
  } else {
    point('culprit', 'base and head are one commit apart');
  }
  if (verified) {
    const where = verified.oneHost ? 'one host' : 'several hosts';
    point(
      'verified',
      `culprit against its parent: ${verified.parent} + ${verified.culprit} boots, interleaved, ${where}`,
    );
  }
  if (lead.detectablePct !== null) {
    point('limits', `a change below ${plainPercent(lead.detectablePct)} would not have been seen with these boots`);
  }
  if (host.deterministic) {
    point(
      'method',
      'instructions are counted, not time (QEMU with -icount): this sees the length',
      'of paths, not caches or contention',
    );
  }
  const revert = search?.revert;
  if (revert) {
    const shows =
      revert.oldLevel >= 0.95
        ? 'shows the old level'
        : revert.oldLevel <= 0.05
          ? 'keeps the new level: look twice'
          : 'shows neither level clearly';
    const boots = `${revert.boots} boot${revert.boots === 1 ? '' : 's'}`;
    point('revert', `the end of the range with the culprit reverted ${shows} (${boots})`);
  }
  point('not tried', `${revert ? '' : 'a revert, '}other workloads, other machines`);
  return lines.join('\n');
}

/** A posterior is never quite 1, and must not read so. */
function certainty(p: number): string {
  return p >= 0.9995 ? 'over 99.9%' : `${(100 * p).toFixed(1)}%`;
}

function raw({ lead, culprit, parent }: MailFacts): string {
  const unit = lead.unit ? ` in ${lead.unit}` : '';
  const row = (sha: string, role: string, values: (number | null)[]) => {
    const name = `  ${sha.slice(0, 10)} ${role}`.padEnd(24);
    const cells = values.map(rawValue);
    const lines: string[] = [];
    for (let i = 0; i < cells.length || i === 0; i += 8) {
      lines.push(`${i === 0 ? name : ' '.repeat(24)}${cells.slice(i, i + 8).join(' ')}`);
    }
    return lines.join('\n');
  };
  return [
    `${lead.metric}${unit}, boot by boot`,
    row(parent.sha, 'parent', lead.base.values),
    row(culprit.sha, 'culprit', lead.head.values),
  ].join('\n');
}

/** Behind `| `, so that no tool takes them for tags of a reply. None for improvements. */
function tags({ lead, from, links }: MailFacts): string {
  if (lead.verdict === 'improvement') return '';
  const lines = ['If you fix this in a separate commit, please add', `| Reported-by: ${from}`];
  if (links.public) lines.push(`| Closes: ${links.report}`);
  return lines.join('\n');
}

function table(facts: MailFacts): string {
  // A metric's spread within a boot is on the page; here it would crowd out the metrics themselves.
  const shown = facts.deltas.filter((d) => d.kpi || (isReported(d) && !d.metric.endsWith(WITHIN_BOOT)));
  const rows = shown.slice(0, maxRows);
  const changed = facts.deltas.filter(isReported).length;
  const text = renderTable({
    columns: [
      { heading: facts.parent.sha, subject: facts.parent.subject, matrix: facts.matrices.parent },
      { heading: facts.culprit.sha, subject: facts.culprit.subject, matrix: facts.matrices.culprit },
    ],
    deltas: [rows],
    axes: axes(facts),
  });
  const more = shown.length > rows.length ? `(${shown.length - rows.length} more rows at the link above)\n` : '';
  return `${text}${more}${changed} of ${facts.deltas.length} metrics changed (5% false discovery rate). "± n%": spread of the boots (n - 1).`;
}

/** LKP's axes: keys sorted, what names the testcase and where it ran. */
function axes({ testcase, kernel, host }: MailFacts): [string, string][] {
  const all: Record<string, string> = {
    ...testcase.params,
    compiler: kernel.compiler.replace(/\s+/g, '-'),
    kconfig: kernel.kconfig,
    tbox_group: host.tboxGroup,
    testcase: testcase.name,
  };
  return Object.entries(all)
    .filter(([, value]) => value !== '')
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

function reproduce({ reproduce: commands, links }: MailFacts): string {
  if (!commands.length) return '';
  // A machine with 48 CPUs has 48 governor lines: the benchmark's own command must not drown in them.
  const shown =
    commands.length <= maxCommands
      ? commands
      : [
          ...commands.slice(0, 4),
          `# … ${commands.length - maxCommands} more lines in the script …`,
          ...commands.slice(4 - maxCommands),
        ];
  return [`To reproduce, as it ran (script: ${links.reproduce})`, ...shown.map((c) => `    ${c}`)].join('\n');
}
