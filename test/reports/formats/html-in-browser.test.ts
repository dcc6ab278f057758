import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { htmlText } from '../../../src/reports/formats/html.ts';
import { HOSTILE, hostileDocument, wholeText } from '../../support/report-document.ts';

/** Debian's package `chromium`. */
const CHROMIUM = '/usr/bin/chromium';
/** It is to say nothing to anybody by itself. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const isMissing = !existsSync(CHROMIUM);

describe.skipIf(isMissing)('a report in Chromium (left out where there is no /usr/bin/chromium)', () => {
  let folder = '';
  let browser: Browser;
  let page: Page;
  const requests: string[] = [];
  const troubles: string[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'order-sync-'));
    const file = join(folder, 'report.html');
    writeFileSync(file, await wholeText(htmlText(hostileDocument())));
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS });
    page = await browser.newPage();
    page.on('request', (request) => requests.push(request.url()));
    page.on('console', (message) => troubles.push(message.text()));
    page.on('pageerror', (error) => troubles.push(error.message));
    page.on('dialog', (dialog) => {
      troubles.push(dialog.message());
      void dialog.dismiss();
    });
    await page.goto(pathToFileURL(file).href);
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('asks for nothing but itself, runs nothing and complains of nothing', () => {
    expect([requests.length, troubles]).toEqual([1, []]);
  });

  it('has no script and no element that a text could have smuggled in', async () => {
    expect(await page.locator('script, img, iframe, object, foreignObject, a:not([href^="#"])').count()).toBe(0);
    expect(await page.locator('figure').count()).toBe(4);
  });

  it('shows its charts, each with a size, shapes and names as they are', async () => {
    const charts = await page.locator('figure svg').all();
    expect(charts).toHaveLength(4);
    for (const chart of charts) {
      const box = await chart.boundingBox();
      expect([(box?.width ?? 0) > 300, (box?.height ?? 0) > 100]).toEqual([true, true]);
      expect(await chart.locator('path').count()).toBeGreaterThan(5);
    }
    expect(await charts[2]?.textContent()).toContain('<script>alert(1)</script>');
  });

  it('shows texts as they are', async () => {
    const cells = await page.locator('#lines tbody th').allTextContents();
    expect(cells).toEqual(HOSTILE);
  });

  it('prints on A4 with everything on the paper', async () => {
    const pdf = (await page.pdf({ preferCSSPageSize: true })).toString('latin1');
    const boxes = [...pdf.matchAll(/\/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)/g)].map(([, width, height]) =>
      [width, height].map((points) => Math.round((Number(points) / 72) * 25.4)),
    );
    expect(boxes.length).toBeGreaterThan(0);
    for (const box of boxes) expect(box).toEqual([297, 210]);
    await page.emulateMedia({ media: 'print' });
    await page.setViewportSize({ width: 1_047, height: 700 });
    const overflow = await page.evaluate(() => {
      const { documentElement: root } = (
        globalThis as unknown as { document: { documentElement: { scrollWidth: number; clientWidth: number } } }
      ).document;
      return root.scrollWidth - root.clientWidth;
    });
    expect(overflow).toBe(0);
  });
});
