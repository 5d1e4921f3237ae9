import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';

/** A page that remembers what went wrong on it: console errors, policy violations, exceptions. */
export async function openWatched(
  browser: Browser,
  options: Parameters<Browser['newPage']>[0] = {},
): Promise<{ page: Page; wrong: string[] }> {
  const page = await browser.newPage(options);
  const wrong: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') wrong.push(message.text());
  });
  page.on('pageerror', (error) => wrong.push(String(error)));
  return { page, wrong };
}

/** What is wrong with pages in a browser: console errors, violations of their policy, what axe calls serious or critical. */
export async function faultsOfPages(browser: Browser, base: string, paths: string[]): Promise<string[]> {
  const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  const { page, wrong } = await openWatched(browser, { bypassCSP: false });
  const found: string[] = [];
  for (const path of paths) {
    const answer = await page.goto(base + path, { waitUntil: 'load' });
    if (answer?.status() !== 200) found.push(`${path}: status ${answer?.status()}`);
    // Through the debugger, which no policy binds.
    await page.evaluate(axeSource);
    const violations = await page.evaluate(async () => {
      const { axe } = window as unknown as {
        axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> };
      };
      return (await axe.run()).violations.filter((one) => one.impact === 'serious' || one.impact === 'critical');
    });
    for (const one of violations) found.push(`${path}: ${one.id}: ${one.nodes[0]?.html.slice(0, 160)}`);
    found.push(...wrong.splice(0).map((text) => `${path}: ${text}`));
  }
  await page.close();
  return found;
}

/** Pages that don't hold their text when no script runs. */
export async function emptyWithoutScript(browser: Browser, base: string, pages: [path: string, text: string][]) {
  const page = await browser.newPage({ javaScriptEnabled: false });
  const empty: string[] = [];
  for (const [path, text] of pages) {
    await page.goto(base + path);
    if (!(await page.content()).includes(text.replaceAll('<', '&lt;'))) empty.push(`${path} lacks ${text}`);
  }
  await page.close();
  return empty;
}
