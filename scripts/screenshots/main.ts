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

const out = process.argv[2] ?? join(homeDir(), '.kdelta', 'screenshots');
mkdirSync(out, { recursive: true });
const remote = process.env.KDELTA_URL;
const lab = remote ? null : await openLab({ listen: true });
const base = remote ?? `http://127.0.0.1:${(lab!.app.server.address() as { port: number }).port}`;
const paths = lab ? allPages(lab.ids).map(([path]) => path) : await newestPages(base);
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

async function newestPages(url: string): Promise<string[]> {
  const newest = async (what: string, page: string) => {
    const { items } = (await (await fetch(`${url}/api/v1/${what}?limit=1`)).json()) as { items: { id: number }[] };
    return items[0] ? [`${page}/${items[0].id}`] : [];
  };
  return [
    ...['/', '/pairs', '/bisects', '/reports', '/history', '/hosts', '/trees', '/noise', '/api'],
    ...(await newest('pairs', '/pairs')),
    ...(await newest('bisects', '/bisects')),
    ...(await newest('boots', '/boots')),
    ...(await newest('reports', '/r')),
    ...(await mapanonPages(url)),
  ];
}

/** The newest two boots of mapanon at one testcase, of different kernels where there are such. */
async function mapanonPages(url: string): Promise<string[]> {
  const answer = await fetch(`${url}/api/v1/boots?limit=200&state=done`);
  const { items } = (await answer.json()) as {
    items: { id: number; program: string; testcase_id: number; kernel_id: number }[];
  };
  const boots = items.filter((boot) => boot.program === 'mapanon');
  for (const boot of boots) {
    const other = boots.find((b) => b.testcase_id === boot.testcase_id && b.kernel_id !== boot.kernel_id);
    if (other) return [`/mapanon?boots=${other.id},${boot.id}`];
  }
  return boots.slice(0, 1).map((boot) => `/mapanon?boots=${boot.id}`);
}
