import { listProbes, listRange } from '@kdelta/store';
import type { Command } from 'commander';
import { type AskedOptions, askedCommand, bisectById, withBot } from './asked.ts';

/** `kdelta bisect log ID`: what `git bisect replay` accepts; the numbers stand in comments. */
export function bisectLogCommand(): Command {
  return askedCommand('log', 'print a bisect as git bisect replay reads it')
    .argument('<id>', 'number of the bisect')
    .action((id: string, options: AskedOptions) =>
      withBot(options, async (world) => {
        const b = await bisectById(world, id);
        const probes = await listProbes(world.ctx.store.pool, b.id);
        const range = await listRange(world.ctx.store.pool, b.good_sha, b.bad_sha, 20_000);
        const parents = new Map(range.map((c) => [c.sha, c.parents]));
        if (options.json) {
          process.stdout.write(`${JSON.stringify({ bisect: b, probes })}\n`);
          return 0;
        }
        const lines = [
          'git bisect start',
          `# kdelta bisect ${b.id}: ${b.metric} at ${b.testcase} on ${b.tbox_group}`,
          `git bisect good ${b.good_sha}`,
          `git bisect bad ${b.bad_sha}`,
        ];
        for (const p of probes) {
          if (p.sha === b.good_sha || p.sha === b.bad_sha) continue;
          if (!parents.has(p.sha)) {
            // The culprit's revert on top of bad: git doesn't know it.
            lines.push(`# ${(p.values ?? []).join(' ')}; ${oneLine(p.why)}`);
          } else if (p.state === 'untestable') {
            lines.push(`# ${oneLine(b.untestable?.[p.sha] ?? 'untestable')}`, `git bisect skip ${p.sha}`);
          } else if (p.state === 'done' && p.posterior_after) {
            // git knows no probabilities: a commit is bad when the culprit is more likely in what it contains.
            lines.push(
              `# ${(p.values ?? []).join(' ')}; ${oneLine(p.why)}`,
              `git bisect ${side(p.sha, parents, p.posterior_after)} ${p.sha}`,
            );
          }
        }
        if (b.culprit_sha) lines.push(`# first bad commit: [${b.culprit_sha}] ${oneLine(b.culprit_subject ?? '')}`);
        process.stdout.write(`${lines.join('\n')}\n`);
        return 0;
      }),
    );
}

function side(sha: string, parents: Map<string, string[]>, posterior: Record<string, number>): 'good' | 'bad' {
  const contained = new Set<string>();
  const open = [sha];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (contained.has(at) || !parents.has(at)) continue;
    contained.add(at);
    open.push(...parents.get(at)!);
  }
  let mass = 0;
  for (const [candidate, p] of Object.entries(posterior)) if (contained.has(candidate)) mass += p;
  return mass > 0.5 ? 'bad' : 'good';
}

function oneLine(text: string): string {
  return text.replace(/[\x00-\x1f\x7f]+/g, ' ').slice(0, 200);
}
