import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { htmlText } from '../../../src/extensions/documents/html.ts';
import { runProgram } from '../../support/cli-function.ts';
import { isChromiumMissing, launchChromium, layoutOf, pagesOf } from '../../support/chromium.ts';
import { monthPage } from '../../support/month-page.ts';
import { HOSTILE, hostilePage, wholeText } from '../../support/report-document.ts';

/** Pictures of the pages are for people to look at: they stay if this variable names a folder. */
const { ORDER_SYNC_SCREENSHOTS } = process.env;
/** Longer words may be broken: a card of a phone is no wider. */
const LONGEST_WORDS = { wide: { inTable: 40, elsewhere: 12 }, phone: { inTable: 28, elsewhere: 12 } } as const;
/** A full page of a table has a thousand texts and lines. */
const FEWEST_MARKS = 150;
const WIDTHS = [
  [1_280, LONGEST_WORDS.wide],
  [768, LONGEST_WORDS.wide],
  [390, LONGEST_WORDS.phone],
] as const;

describe.skipIf(isChromiumMissing)('a report in Chromium (left out if there is no /usr/bin/chromium)', () => {
  let folder = '';
  let pictures = '';
  let browser: Browser;
  const texts = { month: '', hostile: '' };
  const requests: string[] = [];
  const troubles: string[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'order-sync-'));
    pictures = ORDER_SYNC_SCREENSHOTS ?? folder;
    mkdirSync(pictures, { recursive: true });
    texts.month = await monthPage(folder);
    texts.hostile = await wholeText(htmlText(hostilePage()));
    for (const name of ['month', 'hostile'] as const) writeFileSync(join(folder, `${name}.html`), texts[name]);
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function open(name: string, width: number, colorScheme: 'light' | 'dark' = 'light'): Promise<Page> {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    page.on('request', (request) => requests.push(request.url()));
    page.on('console', (message) => troubles.push(message.text()));
    page.on('pageerror', (error) => troubles.push(error.message));
    page.on('dialog', (dialog) => {
      troubles.push(dialog.message());
      void dialog.dismiss();
    });
    await page.goto(pathToFileURL(join(folder, `${name}.html`)).href);
    return page;
  }

  it('asks for nothing but itself, runs nothing, complains of nothing, and has no element that a text smuggled in', async () => {
    requests.length = 0;
    const page = await open('hostile', 1_280);
    expect([requests.length, troubles]).toEqual([1, []]);
    const smuggled = 'script, img, iframe, object, foreignObject, a:not([href^="#"])';
    expect(await page.locator(smuggled).count()).toBe(0);
    expect(await page.locator('figure').count()).toBe(3);
    expect(await page.locator('#lines tbody th').allTextContents()).toEqual(HOSTILE);
    expect(await page.locator('#lines tbody th').first().isVisible()).toBe(true);
    await page.close();
  });

  it.each([
    [1_280, 'wide', 10],
    [390, 'narrow', 11],
  ] as const)(
    'shows its charts at %i px as drawn for it, with letters that can be read',
    async (width, name, least) => {
      const page = await open('month', width);
      const charts = await page.locator('.plots svg:visible').all();
      expect(charts.length).toBeGreaterThan(4);
      for (const chart of charts) {
        const box = await chart.boundingBox();
        expect([(box?.width ?? 0) > 290, (box?.height ?? 0) > 100]).toEqual([true, true]);
        expect(await chart.getAttribute('class')).toBe(name);
        const [size, shown] = [Number(await chart.getAttribute('font-size')), await chart.getAttribute('viewBox')];
        expect((size * (box?.width ?? 0)) / Number(shown?.split(' ')[2])).toBeGreaterThan(least);
      }
      await page.close();
    },
  );

  it('shows the names of a chart as they are', async () => {
    const page = await open('hostile', 1_280);
    expect(await page.locator('.plots').nth(1).textContent()).toContain('<script>alert(1)</script>');
    await page.close();
  });

  it('is short, also on a phone and on paper, if 200 orders have findings of each class', async () => {
    // The page is of the report that a person gets from the demonstration.
    const options = { cwd: folder, environment: { TMPDIR: folder } };
    const demo = await runProgram(['demo', '--scenario', 'mismatch', '--keep'], options);
    const [, settings = ''] = /--config (\S+) report reconciliation$/m.exec(demo.stdout) ?? [];
    const report = ['--config', settings, 'report', 'reconciliation', '--out', join(folder, 'mismatch.html')];
    expect(await runProgram(report, options)).toMatchObject({ code: 1 });
    for (const [width, most] of [
      [1_280, 4_000],
      [390, 9_000],
    ] as const) {
      const page = await open('mismatch', width);
      expect(await page.evaluate<number>('document.documentElement.scrollHeight')).toBeLessThanOrEqual(most);
      await page.screenshot({ path: join(pictures, `mismatch-${width}.png`), fullPage: true });
      await page.close();
    }
    const page = await open('mismatch', 1_280);
    const pages = pagesOf(await page.pdf({ path: join(pictures, 'mismatch.pdf'), preferCSSPageSize: true }));
    expect(pages.length).toBeLessThanOrEqual(5);
    // The findings are on the paper although they are folded on the page.
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('#findings td[data-label="Order"]').first().isVisible()).toBe(true);
    await page.close();
  });

  it('shows that a wide table continues to the right, until its end is seen', async () => {
    const page = await open('month', 800);
    const shadow = async () => {
      const [opacity] = await page.evaluate<[string, number]>(
        `(() => { const wide = [...document.querySelectorAll('.frame')].find((one) => one.scrollWidth > one.clientWidth && one.clientWidth > 0);
          return [getComputedStyle(wide, '::after').opacity, wide.scrollWidth]; })()`,
      );
      return Number(opacity);
    };
    await expect.poll(shadow).toBe(1);
    await page.evaluate(
      `(() => { for (const one of document.querySelectorAll('.frame')) one.scrollLeft = one.scrollWidth; })()`,
    );
    await expect.poll(shadow).toBe(0);
    await page.close();
  });

  it('is smaller than 300 kB for a month of 1,500 orders', () => {
    expect(Buffer.byteLength(texts.month)).toBeLessThan(300_000);
  });

  describe.each(['month', 'hostile'] as const)('the %s', (name) => {
    it.each(WIDTHS)(
      'fits %i px: the page does not scroll sideways, and no word is broken or cut off (ORDER_SYNC_SCREENSHOTS=folder keeps pictures)',
      async (width, longest) => {
        const page = await open(name, width);
        expect(await layoutOf(page, longest)).toEqual({ overflow: 0, tooNarrow: [], broken: [] });
        await page.evaluate(`for (const fold of document.querySelectorAll('details')) fold.open = true`);
        expect(await layoutOf(page, longest)).toEqual({ overflow: 0, tooNarrow: [], broken: [] });
        await page.screenshot({ path: join(pictures, `${name}-${width}.png`) });
        await page.close();
      },
    );

    it.each(['light', 'dark'] as const)('has no serious fault for axe in %s', async (colorScheme) => {
      const page = await open(name, 1_280, colorScheme);
      await page.evaluate(axe.source);
      const found = await page.evaluate<{ violations: axe.Result[] }>('axe.run({ resultTypes: ["violations"] })');
      const grave = found.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
      expect(grave.map(({ id, nodes }) => [id, nodes[0]?.html, nodes[0]?.failureSummary])).toEqual([]);
      await page.screenshot({ path: join(pictures, `${name}-${colorScheme}.png`) });
      await page.close();
    });

    it('prints on A4, landscape, with everything on the paper and no page that is nearly empty', async () => {
      const page = await open(name, 1_280);
      const path = join(pictures, `${name}.pdf`);
      const pages = pagesOf(await page.pdf({ path, preferCSSPageSize: true, printBackground: true }));
      expect(pages.length).toBeGreaterThan(1);
      for (const { size } of pages) expect(size).toEqual([297, 210]);
      for (const { marks } of pages.slice(0, -1)) expect(marks).toBeGreaterThan(FEWEST_MARKS);
      // The width between the margins: what is wider would make the whole print smaller.
      await page.emulateMedia({ media: 'print' });
      await page.setViewportSize({ width: Math.floor((273 / 25.4) * 96), height: 688 });
      expect(await layoutOf(page, LONGEST_WORDS.wide)).toEqual({ overflow: 0, tooNarrow: [], broken: [] });
      await page.close();
    });
  });
});
