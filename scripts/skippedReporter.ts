import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';
import { isNamed, shownTests } from './shownTests.ts';

/**
 * A run that skips tests says which ones and why at its end, so that "all passed" can't hide them; the counts also go to
 * test-results/counts.json, which .ci/run adds up. `not_shown` there counts the tests that docs/seed-systems.md names and
 * that were skipped.
 */
export default class SkippedReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0, not_shown: 0 };
    const skipped: string[] = [];
    const named = shownTests(readFileSync('docs/seed-systems.md', 'utf8'));
    for (const module of modules) {
      // A file that can't be loaded has no tests to fail: it counts as one.
      if (module.state() === 'failed' && module.errors().length) counts.failed++;
      for (const test of module.children.allTests()) {
        const result = test.result();
        if (result.state === 'pending') continue;
        counts[result.state]++;
        if (result.state !== 'skipped') continue;
        const shows = named.some((one) => isNamed(one, module.relativeModuleId, test.name));
        if (shows) counts.not_shown++;
        const mark = shows ? ' (named by docs/seed-systems.md)' : '';
        skipped.push(`  ${module.relativeModuleId} > ${test.fullName}${result.note ? `: ${result.note}` : ''}${mark}`);
      }
    }
    // The vectors are no part of the repository: without them their tests can't run anywhere.
    if (!existsSync(process.env.KDELTA_SHARED ?? '../shared')) counts.not_shown = 0;
    if (skipped.length) console.log(`\n${skipped.length} tests were skipped on this machine:\n${skipped.join('\n')}`);
    mkdirSync('test-results', { recursive: true });
    writeFileSync('test-results/counts.json', `${JSON.stringify(counts)}\n`);
  }
}
