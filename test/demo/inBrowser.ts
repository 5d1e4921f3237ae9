import { hasChromium, launchChromium } from '../browser/chromium.ts';
import { emptyWithoutScript, faultsOfPages } from '../browser/faults.ts';
import { realPages } from '../browser/realPages.ts';
import type { Check } from './checks.ts';

/** Every page of the bot in Debian's Chromium, where that is installed: it is no part of what the demo needs. */
export async function checkInBrowser(url: string, say: (text: string) => void): Promise<Check[]> {
  if (!hasChromium) {
    say('the pages were not tried in a browser: Chromium is not installed');
    return [];
  }
  const browser = await launchChromium();
  try {
    const pages = await realPages(url);
    const faults = await faultsOfPages(
      browser,
      url,
      pages.map(([path]) => path),
    );
    const empty = await emptyWithoutScript(browser, url, pages);
    return [
      {
        what: `${pages.length} pages load in a browser without an error, and axe finds nothing serious`,
        ok: faults.length === 0,
        saw: faults.join('; '),
      },
      { what: 'they show their data without JavaScript', ok: empty.length === 0, saw: empty.join('; ') },
    ];
  } finally {
    await browser.close();
  }
}
