import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { startBadDay } from '../support/bad-day.ts';
import { runCommand } from '../support/cli-process.ts';
import { monthPage } from '../support/month-page.ts';
import { withPalette } from './palette.ts';

/** How a page is looked at. */
const WIDE = { viewport: { width: 1_280, height: 1_130 }, colorScheme: 'light' } as const;
const DARK = { ...WIDE, colorScheme: 'dark' } as const;
const PHONE = { viewport: { width: 390, height: 1_180 }, deviceScaleFactor: 2 } as const;

/** Has the commands of a page name no folder of the machine on which its picture is taken. */
const NAME_NO_FOLDER = String.raw`(() => {
  const call = /(?:npx )?(?:<span class="word">)?(?:[^\s<>]*bin\.mjs|order-sync)(?:<\/span>)? (?:<span class="word">)?--config(?:<\/span>)? [^\s<]+/g;
  document.body.innerHTML = document.body.innerHTML.replaceAll(call, 'order-sync');
})()`;

interface Picture {
  readonly name: string;
  readonly looks: typeof WIDE | typeof DARK | typeof PHONE;
  /** The heading at the top of the picture. */
  readonly heading?: string;
}

/** Pages of which there are pictures, by the first part of their names. */
export const PAGES = {
  'report-demo': { pictures: [{ name: 'report-demo', looks: WIDE }], show: ofReport(demoReport) },
  'report-month': {
    pictures: [
      { name: 'report-month', looks: WIDE },
      { name: 'report-month-money', looks: WIDE, heading: 'Orders and money' },
      { name: 'report-month-dark', looks: DARK },
      { name: 'report-month-phone', looks: PHONE },
    ],
    show: ofReport(monthPage),
  },
  'dashboard-bad-day': {
    pictures: [
      { name: 'dashboard-bad-day', looks: WIDE },
      { name: 'dashboard-bad-day-dark', looks: DARK },
      { name: 'dashboard-bad-day-phone', looks: PHONE },
    ],
    show: showBadDay,
  },
} as const satisfies Record<string, { pictures: readonly Picture[]; show: (folder: string) => Promise<Shown> }>;
export type PageName = keyof typeof PAGES;

interface Shown extends AsyncDisposable {
  readonly url: string;
}

/** Takes the pictures of a page, and returns them by name. `folder` is for what the page is made of. */
export async function picturesOf(
  browser: Browser,
  name: PageName,
  folder: string,
): Promise<ReadonlyMap<string, Buffer>> {
  const { pictures, show } = PAGES[name];
  await using shown = await show(folder);
  const taken = new Map<string, Buffer>();
  for (const { name: picture, looks, heading } of pictures as readonly Picture[]) {
    const page = await browser.newPage(looks);
    await page.goto(shown.url);
    await page.evaluate(NAME_NO_FOLDER);
    if (heading !== undefined) await page.evaluate(scrollTo(heading));
    taken.set(picture, withPalette(await page.screenshot()));
    await page.close();
  }
  return taken;
}

/** A text, because the browser's own types are not those of the tests. */
function scrollTo(heading: string): string {
  return `[...document.querySelectorAll('h2')].find((one) => one.textContent === '${heading}').scrollIntoView()`;
}

function ofReport(read: (folder: string) => Promise<string>): (folder: string) => Promise<Shown> {
  return async (folder) => {
    const path = join(folder, 'report.html');
    writeFileSync(path, await read(folder));
    return { url: pathToFileURL(path).href, async [Symbol.asyncDispose]() {} };
  };
}

async function demoReport(folder: string): Promise<string> {
  const options = { cwd: folder, environment: { TMPDIR: folder } };
  const { stdout } = await runCommand(['demo', '--scenario', 'mismatch', '--keep'], options);
  const [, settings = ''] = /--config (\S+)/.exec(stdout) ?? [];
  const report = ['--config', settings, 'report', 'reconciliation', '--format', 'html'];
  return (await runCommand(report, options)).stdout;
}

async function showBadDay(folder: string): Promise<Shown> {
  const day = await startBadDay(folder);
  return { url: day.url, [Symbol.asyncDispose]: async () => void (await day.stop()) };
}
