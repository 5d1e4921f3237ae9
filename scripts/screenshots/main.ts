/**
 * Every page, light and dark, at 360, 1280 and 2560 px, as PNG: `npm run screenshots [-- OUTDIR]`, by default into
 * .kdelta/screenshots. KDELTA_URL takes the pages of a kdelta that runs (its newest pair, bisect, boot and report);
 * without it a lab is seeded from recorded boots.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { homeDir } from '@kdelta/home';
import { allPages, openLab } from '../../apps/server/test/lab.ts';
import { launchChromium } from '../../test/browser/chromium.ts';
import { realPages } from '../../test/browser/realPages.ts';

const out = process.argv[2] ?? join(homeDir(), '.kdelta', 'screenshots');
mkdirSync(out, { recursive: true });
const remote = process.env.KDELTA_URL;
const lab = remote ? null : await openLab({ listen: true });
const base = remote ?? `http://127.0.0.1:${(lab!.app.server.address() as { port: number }).port}`;
const paths = (lab ? allPages(lab.ids) : await realPages(base)).map(([path]) => path);
const only = process.env.ONLY?.split(',');

const browser = await launchChromium();
for (const path of paths) {
  const name =
    path
      .replace(/^\//, '')
      .replace(/[^\w]+/g, '-')
      .slice(0, 60) || 'overview';
  if (only && !only.some((part) => name.includes(part))) continue;
  for (const width of [360, 1280, 2560])
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await browser.newPage({ viewport: { width, height: width === 360 ? 740 : 900 }, colorScheme });
      await page.goto(base + path, { waitUntil: 'load' });
      if (path.startsWith('/history')) await page.waitForSelector('.live-chart canvas');
      await page.screenshot({ path: join(out, `${name}-${width}-${colorScheme}.png`), fullPage: width !== 2560 });
      await page.close();
    }
  process.stdout.write(`${name}\n`);
}
await browser.close();
await lab?.close();
process.exit(0);
