import { appendEvent } from '@kdelta/store';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allPages, type Lab, openLab } from '../../apps/server/test/lab.ts';
import { CHROMIUM, hasChromium, launchChromium } from './chromium.ts';
import { emptyWithoutScript, faultsOfPages, openWatched } from './faults.ts';

let lab: Lab;
let browser: Browser;
let base: string;

describe.skipIf(!hasChromium)(
  `pages in a browser (${CHROMIUM}${hasChromium ? '' : ' is missing'})`,
  { timeout: 240_000 },
  () => {
    beforeAll(async () => {
      lab = await openLab({ listen: true });
      base = `http://127.0.0.1:${(lab.app.server.address() as { port: number }).port}`;
      browser = await launchChromium();
    });
    afterAll(async () => {
      await browser?.close();
      await lab?.close();
    });

    const open = (options: Parameters<typeof openWatched>[1] = {}) => openWatched(browser, options);

    it('load without a console error or a violation of their policy, and axe finds nothing serious', async () => {
      const paths = allPages(lab.ids).map(([path]) => path);
      expect(await faultsOfPages(browser, base, paths)).toEqual([]);
    });

    it('show the same without JavaScript', async () => {
      expect(await emptyWithoutScript(browser, base, allPages(lab.ids))).toEqual([]);
    });

    it('fit a phone: nothing but tables and drawings is wider than 360 px', async () => {
      const { page } = await open({ viewport: { width: 360, height: 740 } });
      for (const [path] of allPages(lab.ids)) {
        await page.goto(base + path);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        expect(wide, path).toBeLessThanOrEqual(360);
      }
      await page.close();
    });

    it('change within a second when a boot makes progress', async () => {
      const { page } = await open();
      const { boots } = lab.ids;
      await page.goto(`${base}/boots/${boots.running}`);
      await page.waitForFunction(() => document.getElementById('live')?.textContent === 'live');
      expect(await page.textContent('main')).toContain('31 s left');
      const set = `update boot set progress = '{"phase": "dbench", "fraction": 0.9, "etaSeconds": 4}' where id = $1`;
      await lab.store.pool.query(set, [boots.running]);
      const started = Date.now();
      await appendEvent(lab.store.pool, { kind: 'boot.progress', subject: `boot:${boots.running}` });
      await page.waitForFunction(() => document.querySelector('main')?.textContent?.includes('4.0 s left'), undefined, {
        timeout: 5000,
      });
      // Seconds belong to benchmarks; here it is enough that no reload was needed.
      expect(Date.now() - started).toBeLessThan(5000);
      await page.close();
    });

    it('are used by keyboard alone from the mail’s link to the pair, its history, a bisect and the matrix', async () => {
      const { page, wrong } = await open();
      const token = await lab.token(['bisect']);
      const follow = async (name: string | RegExp) => {
        const link = page.getByRole('link', { name }).first();
        await link.focus();
        await Promise.all([page.waitForLoadState('load'), page.keyboard.press('Enter')]);
      };
      await page.goto(`${base}/pairs/${lab.ids.pairs.regression}`);
      // The first row by `j`, opened by Enter.
      await page.keyboard.press('j');
      await page.keyboard.press('Enter');
      await page.waitForSelector('text=Boot by boot');
      await follow('History');
      await page.waitForSelector('.live-chart canvas');
      await page.goBack();
      await follow('Bisect this metric');
      await page.waitForURL(/\/bisects\/new/);
      await page.locator('main').getByRole('link', { name: 'Sign in' }).focus();
      await page.keyboard.press('Enter');
      await page.waitForURL(/sign-in/);
      await page.getByLabel('Token').focus();
      await page.keyboard.type(token);
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/bisects\/new/);
      await page.getByRole('button', { name: 'Start' }).focus();
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/bisects\/\d+$/);
      expect(await page.textContent('h1')).toContain('looking for what changed');
      await page.goto(`${base}/pairs/${lab.ids.pairs.regression}`);
      const download = page.getByRole('link', { name: 'head matrix.json' });
      await download.focus();
      await page.keyboard.press('Enter');
      await page.waitForURL(/head\.matrix\.json/);
      expect(JSON.parse((await page.textContent('body'))!)).toHaveProperty([lab.ids.kpi]);
      expect(wrong).toEqual([]);
      await page.close();
    });

    it('take `/` to the search and Escape away from it', async () => {
      const { page } = await open();
      await page.goto(`${base}/pairs/${lab.ids.pairs.regression}`);
      await page.keyboard.press('/');
      await page.keyboard.type('throughput');
      await page.keyboard.press('Enter');
      await page.waitForURL(/q=throughput/);
      await page.close();
    });
  },
);
