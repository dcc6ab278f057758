import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { picturesOf } from '../../../pictures/pictures.ts';
import { withPalette } from '../../../pictures/palette.ts';
import { startBadDay } from '../../../support/bad-day.ts';
import { isChromiumMissing, launchChromium } from '../../../support/chromium.ts';
import { runProgram } from '../../../support/cli-function.ts';
import { runCommand } from '../../../support/cli-process.ts';
import { temporaryFolder } from '../../../support/folders.ts';
import { HOUR, MINUTE } from '../../../support/tracking.ts';

interface Reason {
  readonly code: string;
  readonly since: string | null;
}

const leftIn = (folder: string) => readdirSync(folder).filter((name) => name.startsWith('order-sync'));

describe('demo --scenario bad-day', () => {
  it('with --hold shows a day of orders that ends in an outage, until it is stopped, and leaves nothing', async () => {
    const folder = temporaryFolder();
    const day = await startBadDay(folder);
    const ask = async (...args: readonly string[]) =>
      await runProgram(['--config', day.settings, ...args], { cwd: temporaryFolder() });
    const statusOf = async () => {
      const { code, stdout } = await ask('status', '--json');
      const { verdict, overview, asOf, daemon } = JSON.parse(stdout) as {
        readonly verdict: { readonly reasons: readonly Reason[] };
        readonly overview: { readonly orders: Readonly<Record<string, number>> };
        readonly asOf: string;
        readonly daemon: { readonly pid: number };
      };
      return { code, reasons: verdict.reasons, orders: overview.orders, asOf, daemon };
    };

    expect((await fetch(day.url)).status).toBe(200);
    const { code, reasons, orders, asOf, daemon } = await statusOf();
    expect(code).toBe(69);
    const minutesOf = (wanted: string) =>
      reasons
        .filter((reason) => reason.code === wanted)
        .map(({ since }) => (Date.parse(asOf) - Date.parse(since ?? asOf)) / MINUTE);
    expect(minutesOf('out-of-reach').every((minutes) => minutes > 5)).toBe(true);
    expect(minutesOf('receiver-fails').every((minutes) => minutes > 15)).toBe(true);
    const codes = new Set(reasons.map((reason) => reason.code));
    expect([...codes].toSorted()).toEqual(
      expect.arrayContaining(['disputed', 'finding', 'held', 'out-of-reach', 'receiver-fails', 'unknown']),
    );
    for (const state of ['disputed', 'held', 'unknown', 'rejected', 'invalid', 'pending', 'open', 'final'])
      expect([state, orders[state]]).toEqual([state, expect.toSatisfy((count: number) => count > 0)]);

    const merchant = new Database(join(dirname(day.settings), 'demo.db'), { readonly: true });
    const inserted = merchant.prepare('select count(*) from merchant_orders where created_at between ? and ?').pluck();
    const ago = (ms: number) => new Date(Date.parse(asOf) - ms).toISOString();
    expect(inserted.get(ago(HOUR), asOf)).toBeGreaterThan(100);
    expect(inserted.get(ago(26 * HOUR), ago(2 * HOUR))).toBeGreaterThan(50);
    merchant.close();
    expect(await ask('db', 'check', '--chain')).toMatchObject({ code: 0 });
    expect(await ask('report', 'reconciliation')).toMatchObject({ code: 1 });

    const ended = await day.stop();
    expect([ended.code, ended.stdout]).toEqual([0, expect.stringContaining('Reconciliation of ')]);
    expect(leftIn(folder)).toEqual([]);
    expect(() => process.kill(daemon.pid, 0)).toThrow('ESRCH');
  });

  it('says without --hold how the orders stand, and ends well', async () => {
    const folder = temporaryFolder();
    const options = { cwd: folder, environment: { TMPDIR: folder } };
    const { code, stdout, stderr } = await runCommand(['demo', '--scenario', 'bad-day', '--orders', '20'], options);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^.*\bdisputed 2 .*\bheld 3 .*\bunknown \d+ /m);
    expect(stdout).toMatch(/^Reconciliation of \d+ orders: not clean /m);
    expect(leftIn(folder)).toEqual([]);
  });

  it('is refused with a database of PostgreSQL', async () => {
    const args = ['demo', '--scenario', 'bad-day', '--database', 'postgres://shop@127.0.0.1/none'];
    expect(await runProgram(args)).toMatchObject({ code: 64, stdout: '' });
  });
});

describe.skipIf(isChromiumMissing)('pictures for the docs (left out without /usr/bin/chromium)', () => {
  let browser: Awaited<ReturnType<typeof launchChromium>>;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(async () => await browser?.close());

  it('are taken of the dashboard on a bad day, each of at most 300 kB', async () => {
    const pictures = await picturesOf(browser, 'dashboard-bad-day', temporaryFolder());
    expect([...pictures.keys()]).toEqual(['dashboard-bad-day', 'dashboard-bad-day-dark', 'dashboard-bad-day-phone']);
    for (const bytes of pictures.values()) expect(bytes.length).toBeLessThanOrEqual(300_000);
  });

  it('show with a palette the same colours as without', async () => {
    const page = await browser.newPage({ viewport: { width: 120, height: 80 } });
    const stripes = Array.from({ length: 60 }, (_, at) => `hsl(${at * 6} 80% 50%) ${2 * at}px ${2 * at + 2}px`);
    await page.setContent(
      `<body style="margin: 0; height: 80px; background: linear-gradient(100deg, ${stripes.join()})">`,
    );
    const taken = await page.screenshot();
    const source = `data:image/png;base64,${withPalette(taken).toString('base64')}`;
    await page.setContent(`<body style="margin: 0"><img style="display: block" src="${source}">`);
    await page.locator('img').evaluate('(image) => image.decode()');
    expect((await page.screenshot()).equals(taken)).toBe(true);
    await page.close();
  });
});
