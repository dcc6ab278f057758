import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createPass } from '../../../../src/orders/create.ts';
import { isChromiumMissing, launchChromium, layoutOf } from '../../../support/chromium.ts';
import { temporaryFolder } from '../../../support/folders.ts';
import { testOps, type TestOps } from '../../../support/ops-endpoint.ts';
import { unguarded } from '../../../support/unguarded.ts';
import { withSettings } from '../../../support/settings.ts';

const { ORDER_SYNC_SCREENSHOTS } = process.env;
const NEVER = new AbortController().signal;
const LONGEST_WORDS = { inTable: 28, elsewhere: 12 };
const LONG = 'tenant-north-europe/shop-000705/2026-03-15/9f1c2a7e-5b1d-4a3e-8c11-2d0b7f3a9e55';
const ODD = ['\u202Eevil\u0007', LONG, 'עברית-123', `"'><script>document.title='taken'</script>`];

/** A dashboard of `orders` orders in all states, with findings; among many there are odd ids. */
async function listed(rows: number, actions: 'on' | 'off' = 'off'): Promise<TestOps> {
  const on = await testOps({
    instead: ({ config, app }) => ({
      config: withSettings(config, { ops: { actions, listen: { host: '127.0.0.1', port: 0 } } }),
      accounts: { names: [app.account] },
    }),
  });
  const { program } = on;
  const odd = rows > 50 ? ODD : [];
  const ids = [...odd, ...Array.from({ length: rows - odd.length }, (_, index) => `shop-${index}`)];
  for (const id of ids)
    program.insert({ external_order_id: id, asset: id === 'shop-7' ? '12.000000012345678901' : '0.25' });
  await createPass(program.app, NEVER);
  unguarded(program.merchant, () =>
    program.merchant.exec(`
      update merchant_orders set state = 'held', state_reason = 'the outcome of the create is unknown' where external_order_id in ('shop-10', '${LONG}');
      update merchant_orders set state = 'disputed', state_reason = 'the pair differs' where external_order_id = 'shop-12';
      update merchant_orders set state = 'final', outcome = 'succeeded' where external_order_id like 'shop-2%';
      update merchant_orders set state = 'final', outcome = 'failed' where external_order_id like 'shop-3%';
      update merchant_orders set state = 'final' where external_order_id like 'shop-4%';
      insert into events (account, type, subject, field, old_value, new_value, observed_at, source, previous_hash, hash)
        select account, 'order', external_order_id, 'state', 'unknown', state, '2026-01-05T12:00:00.000Z', 'lookup', '', 'x'
        from merchant_orders where state <> 'accepted';
      insert into findings (account, class, severity, external_order_id, expected, actual, first_seen_at, last_seen_at)
        select account, 'AMOUNT_MISMATCH', 'error', external_order_id, '0.000000012345678901', '0.000000012345678902',
          '2026-01-05T10:00:00.000Z', '2026-01-05T10:00:00.000Z' from merchant_orders limit 70`),
  );
  return on;
}

describe.skipIf(isChromiumMissing)('the lists in Chromium (left out if there is no /usr/bin/chromium)', () => {
  let browser: Browser;
  const troubles: string[] = [];
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(async () => await browser?.close());

  async function open({ ops }: TestOps, path: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 1_280, height: 900 }, ...options });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    troubles.length = 0;
    page.on('console', (message) => troubles.push(message.text()));
    page.on('pageerror', (error) => troubles.push(error.message));
    await page.goto(`${ops.url}${path}`);
    return page;
  }

  it('copies a whole id of a list, and a command', async () => {
    const on = await listed(60);
    const permissions = ['clipboard-read', 'clipboard-write'];
    const list = await open(on, `/orders?${new URLSearchParams({ q: LONG }).toString()}`, { permissions });
    await list.locator('tbody .copy').click();
    expect(await list.evaluate('navigator.clipboard.readText()')).toBe(LONG);
    const order = await open(on, '/orders/shop-10', { permissions });
    await order.locator('p:has(code:text("--as abandoned")) .copy').click();
    expect(await order.evaluate('navigator.clipboard.readText()')).toContain('orders resolve shop-10 --as abandoned');
    expect(troubles).toEqual([]);
  });

  it('goes from page to page and narrows down without a script, and has no button that does nothing', async () => {
    const page = await open(await listed(60), '/orders', { javaScriptEnabled: false });
    await page.locator('text=Next page').click();
    expect(await page.locator('tbody tr').count()).toBe(10);
    await page.locator('.filter [name=state]').selectOption('held');
    await page.locator('.filter button').click();
    expect(await page.locator('tbody tr').count()).toBe(2);
    expect([new URL(page.url()).searchParams.get('state'), await page.locator('.copy').count()]).toEqual(['held', 0]);
  });

  it('has the labels of a filter in one line, and each button to copy beside the end of its command', async () => {
    const on = await listed(60);
    const list = await open(on, '/orders');
    const tops = await list.evaluate<readonly number[]>(
      `[...document.querySelectorAll('.filter label')].map((label) => label.getBoundingClientRect().top)`,
    );
    expect(new Set(tops).size).toBe(1);
    const order = await open(on, '/orders/shop-10', { viewport: { width: 390, height: 900 } });
    const below = await order.evaluate<
      readonly number[]
    >(`[...document.querySelectorAll('code + .copy')].map((button) =>
      button.getBoundingClientRect().top - button.previousElementSibling.getBoundingClientRect().bottom)`);
    expect(below.length).toBeGreaterThan(1);
    expect(below.filter((pixels) => pixels >= 0)).toEqual([]);
  });

  it.each([
    ['phone', 390, 'light', 200],
    ['laptop', 1_280, 'light', 200],
    ['dark', 1_280, 'dark', 200],
    ['none', 1_280, 'light', 0],
    ['one', 390, 'light', 1],
    ['fifty', 1_280, 'light', 50],
  ] as const)(
    'fit a %s, and have no serious fault for axe (ORDER_SYNC_SCREENSHOTS=folder keeps pictures)',
    async (name, width, colorScheme, rows) => {
      const folder = ORDER_SYNC_SCREENSHOTS ?? temporaryFolder();
      mkdirSync(folder, { recursive: true });
      const on = await listed(rows, name === 'dark' ? 'on' : 'off');
      const pages = { orders: '/orders', found: '/orders?q=shop', findings: '/findings?class=AMOUNT_MISMATCH' };
      const ofOrders = {
        held: '/orders/shop-10',
        long: `/orders/${encodeURIComponent(LONG)}`,
        final: '/orders/shop-40',
      };
      const missing = { missing: '/orders/nobody', unreadable: '/orders?state=x' };
      for (const [part, path] of Object.entries(rows > 50 ? { ...pages, ...ofOrders, ...missing } : pages)) {
        const page = await open(on, path, { viewport: { width, height: 900 }, colorScheme, bypassCSP: true });
        expect([part, await layoutOf(page, LONGEST_WORDS)]).toEqual([part, { overflow: 0, tooNarrow: [], broken: [] }]);
        await page.evaluate(axe.source);
        const found = await page.evaluate<{ violations: axe.Result[] }>('axe.run({ resultTypes: ["violations"] })');
        const grave = found.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
        expect(grave.map(({ id, nodes }) => [part, id, nodes[0]?.html, nodes[0]?.failureSummary])).toEqual([]);
        await page.screenshot({ path: join(folder, `lists-${part}-${name}.png`), fullPage: true });
        await page.context().close();
      }
    },
  );
});
