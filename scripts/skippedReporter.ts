import { mkdirSync, writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

/**
 * A run that skips tests says which ones and why at its end, so that "all passed" can't hide them; the counts also go to
 * test-results/counts.json, which .ci/run adds up.
 */
export default class SkippedReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    const skipped: string[] = [];
    for (const module of modules) {
      // A file that can't be loaded has no tests to fail: it counts as one.
      if (module.state() === 'failed' && module.errors().length) counts.failed++;
      for (const test of module.children.allTests()) {
        const result = test.result();
        if (result.state === 'pending') continue;
        counts[result.state]++;
        if (result.state === 'skipped') {
          skipped.push(`  ${module.relativeModuleId} > ${test.fullName}${result.note ? `: ${result.note}` : ''}`);
        }
      }
    }
    if (skipped.length) console.log(`\n${skipped.length} tests were skipped on this machine:\n${skipped.join('\n')}`);
    mkdirSync('test-results', { recursive: true });
    writeFileSync('test-results/counts.json', `${JSON.stringify(counts)}\n`);
  }
}
