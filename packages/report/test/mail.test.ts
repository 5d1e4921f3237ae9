import { buildRegistry } from '@kdelta/matrix';
import { judge } from '@kdelta/stats';
import { expect, test } from 'vitest';
import { type MailFacts, mailBody, mailSignature, mailSubject, subsystemOf } from '../src/index.ts';

// The boots of the mail reference's first example.
const parentBoots = [13551, 13587, 13518, 13444, 13496, 13432, 13558, 13712];
const culpritBoots = [11952, 11934, 12090, 12071, 12036, 11891, 12017, 12118];

function facts(change: Partial<MailFacts> = {}): MailFacts {
  const boots = parentBoots.map((_, i) => String(i));
  const matrices = {
    parent: { boots, metrics: new Map([['dbench.throughput_MB/s', parentBoots]]) },
    culprit: { boots, metrics: new Map([['dbench.throughput_MB/s', culpritBoots]]) },
  };
  const registry = buildRegistry([
    {
      name: 'dbench',
      metrics: { 'throughput_MB/s': { unit: 'MB/s', better: 'higher', kpi: true, kind: 'performance' } },
    },
  ]);
  const { deltas } = judge({ base: matrices.parent, head: matrices.culprit, registry });
  return {
    tree: { name: 'linus', branch: 'master', url: 'https://git.example.org/linux.git' },
    culprit: { sha: '4f1e2d3c4b5a69788796a5b4c3d2e1f0a9b8c7d6', subject: 'mm: batch foo under lock' },
    parent: { sha: '1122334455667788990011223344556677889900', subject: 'mm: prepare foo' },
    lead: deltas[0]!,
    deltas,
    matrices,
    testcase: { name: 'dbench', params: { nr_threads: '100%', runtime: '60s' } },
    kernel: { kconfig: 'x86_64-kdelta', compiler: 'gcc 14.2.0' },
    host: { tboxGroup: 'box1', description: '32 threads, 64G', deterministic: false },
    search: { certainty: 0.992, boots: 34, kernels: 13, commits: 412, untestable: 2, untestableAdjacent: false },
    verified: { parent: 8, culprit: 8, oneHost: true },
    reproduce: ['dbench 32 -c /usr/share/dbench/client.txt'],
    links: { report: 'https://kdelta.example.org/r/42', reproduce: 'https://kdelta.example.org/x', public: true },
    from: 'kdelta bot <kdelta@bot.example.org>',
    ...change,
  };
}

test('the subject names tree, subsystem, commit, metric and size', () => {
  expect(mailSubject(facts())).toBe('[linus:master] [mm] 4f1e2d3c4b: dbench.throughput_MB/s 11.3% regression');
});

test('a metric of 1,200 characters is cut, the size stays', () => {
  const f = facts();
  const subject = mailSubject({ ...f, lead: { ...f.lead, metric: 'm'.repeat(1200) } });
  expect(subject).toHaveLength(120);
  expect(subject).toMatch(/11\.3% regression$/);
});

test('a title without a subsystem gives none', () => {
  expect(subsystemOf('Linux 6.12')).toBe('');
  expect(subsystemOf('x86/mm/tlb: flush')).toBe('x86/mm/tlb');
  expect(subsystemOf('</b>: x')).toBe('');
});

test('the body has the parts of the reference in its order', () => {
  const body = mailBody(facts());
  const marks = [
    'Hello,\n',
    'kdelta measured an 11.3% regression of dbench.throughput_MB/s (higher is better;\n13537 MB/s -> 12013 MB/s, 95% interval ',
    'commit: 4f1e2d3c4b5a69788796a5b4c3d2e1f0a9b8c7d6 ("mm: batch foo under lock")\n',
    'tree:   linus/master, https://git.example.org/linux.git\n',
    'testcase:   dbench, nr_threads=100% runtime=60s\n',
    'host:       box1, 32 threads, 64G\n',
    'How sure\n  culprit     99.2% after 34 boots of 13 kernels; the range had 412 commits,\n',
    '              2 of them did not build or boot, none is next to the culprit\n',
    '  verified    culprit against its parent: 8 + 8 boots, interleaved, one host\n',
    '  limits      a change below ',
    'dbench.throughput_MB/s in MB/s, boot by boot\n  1122334455 parent     13551 13587 13518 13444 13496 13432 13558 13712\n',
    '  4f1e2d3c4b culprit    11952 11934 12090 12071 12036 11891 12017 12118\n',
    '| Reported-by: kdelta bot <kdelta@bot.example.org>\n| Closes: https://kdelta.example.org/r/42\n',
    'https://kdelta.example.org/r/42\n\n=====',
    'compiler/kconfig/nr_threads/runtime/tbox_group/testcase:\n  gcc-14.2.0/x86_64-kdelta/100%/60s/box1/dbench\n',
    '     13537 ±  1%     -11.3%      12013 ±  1%  dbench.throughput_MB/s\n',
    '1 of 1 metrics changed',
    'To reproduce, as it ran (script: https://kdelta.example.org/x)\n    dbench 32 -c',
  ];
  let at = 0;
  for (const mark of marks) {
    const found = body.indexOf(mark, at);
    expect(found, mark).toBeGreaterThanOrEqual(0);
    at = found;
  }
});

test('an improvement and a private dashboard have no tags that need a fix or a public page', () => {
  const f = facts({ links: { report: 'http://127.0.0.1:1/r/1', reproduce: '', public: false } });
  expect(mailBody(f)).not.toContain('Closes:');
  expect(mailBody({ ...f, lead: { ...f.lead, verdict: 'improvement' } })).not.toContain('Reported-by');
});

test('no address stands above the signature but the one in the tag', () => {
  const text = mailBody(facts()).replace(/^\| .*$/gm, '');
  expect(text).not.toMatch(/\S@\S/);
  expect(mailSignature('kdelta bot <kdelta@bot.example.org>', 'mae')).toContain('approved by mae');
});

test('48 governor lines leave the benchmark in sight', () => {
  const governors = Array.from({ length: 48 }, (_, i) => `echo performance > cpu${i}`);
  const body = mailBody(facts({ reproduce: [...governors, 'dbench 48'] }));
  expect(body).toContain('\n    dbench 48\n');
  expect(body).toMatch(/33 more lines/);
});
