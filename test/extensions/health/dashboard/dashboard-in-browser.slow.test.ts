import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createPass } from '../../../../src/orders/create.ts';
import { setHold } from '../../../../src/store/tables/account-holds.ts';
import { isChromiumMissing, launchChromium, layoutOf } from '../../../support/chromium.ts';
import { temporaryFolder } from '../../../support/folders.ts';
import { testOps, type TestOps } from '../../../support/ops-endpoint.ts';
import { unguarded } from '../../../support/unguarded.ts';
import { withSettings } from '../../../support/settings.ts';

/** Pictures of the pages are for people to look at: they stay if this variable names a folder. */
const { ORDER_SYNC_SCREENSHOTS } = process.env;
const NEVER = new AbortController().signal;
const TOKEN = 'a-token-of-the-test';
const LONGEST_WORDS = { inTable: 28, elsewhere: 12 };
const HOSTILE = `"'><script>document.title='taken'</script>`;

/** A dashboard on which something of everything must be seen, and a person may decide. */
async function board(): Promise<TestOps> {
  const on = await testOps({
    instead: ({ config, app }) => ({
      config: withSettings(config, { ops: { actions: 'on', token: TOKEN, listen: { host: '127.0.0.1', port: 0 } } }),
      accounts: { names: [app.account] },
    }),
  });
  const { program } = on;
  for (const id of ['held-1', 'shop-1', 'shop-2', HOSTILE]) program.insert({ external_order_id: id });
  await createPass(program.app, NEVER);
  program.insert({ external_order_id: 'wrong', asset: 'x' }, { external_order_id: 'shop-3' });
  unguarded(program.merchant, () =>
    program.merchant.exec(
      `update merchant_orders set state = 'held', state_reason = 'looked up 10 times', revision = revision + 1 where external_order_id = 'held-1';
       update event_heads set counts = '{"orders":{"held":1,"accepted":3},"findings":{"AMOUNT_MISMATCH":1}}'`,
    ),
  );
  program.merchant
    .exec(`insert into findings (account, class, severity, external_order_id, expected, actual, first_seen_at, last_seen_at)
    values ('default', 'AMOUNT_MISMATCH', 'error', 'shop-1', '0.000000012345678901', '0.000000012345678902', '2026-01-05T10:00:00.000Z', '2026-01-05T10:00:00.000Z')`);
  return on;
}

describe.skipIf(isChromiumMissing)('the dashboard in Chromium (left out if there is no /usr/bin/chromium)', () => {
  let browser: Browser;
  const troubles: string[] = [];
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(async () => await browser?.close());

  async function open({ ops }: TestOps, path = '/', options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({
      viewport: { width: 1_280, height: 900 },
      httpCredentials: { username: 'kim', password: TOKEN },
      ...options,
    });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    troubles.length = 0;
    page.on('console', (message) => troubles.push(message.text()));
    page.on('pageerror', (error) => troubles.push(error.message));
    await page.goto(`${ops.url}${path}`);
    return page;
  }

  it('says first what needs a person, with the command that helps', async () => {
    const page = await open(await board());
    expect(await page.locator('h1').textContent()).toBe('Order held-1 is held: looked up 10 times');
    await page.locator('#verdict').getByRole('link', { name: 'See the order' }).click();
    await page.locator('#timeline').waitFor();
    expect(troubles).toEqual([]);
  });

  it('shows an event as it comes, without being loaded again, and keeps what has the focus', async () => {
    const on = await board();
    const page = await open(on);
    await page.evaluate("document.documentElement.dataset.loaded = 'once'");
    await page.locator('#q').fill('half');
    on.program.clock.advance(5_000);
    const now = on.program.clock.now();
    const hold = { kind: 'all-paused', since: now, until: null, reason: HOSTILE, actor: 'kim' } as const;
    await on.program.app.store.writer.write((tx) => setHold(tx, 'default', hold, now));
    await page.locator('#problems', { hasText: 'Creating orders and looking them up is paused' }).waitFor();
    await page.locator('#events li', { hasText: 'account default paused' }).waitFor();
    expect(await page.evaluate('document.documentElement.dataset.loaded')).toBe('once');
    expect(await page.evaluate('document.activeElement.value')).toBe('half');
    expect([await page.title(), troubles]).toEqual([expect.not.stringContaining('taken'), []]);
  });

  it('shows all accounts or the one that is chosen, and the events of that one as they come', async () => {
    const on = await testOps({
      instead: ({ config }) => ({
        config: {
          ...withSettings(config, { ops: { listen: { host: '127.0.0.1', port: 0 } } }),
          accounts: ['default', 'shop-2'].map((name) => ({ ...config.accounts[0]!, name })),
        },
        accounts: { names: ['default', 'shop-2'] },
      }),
    });
    const pause = async (account: string) => {
      const now = on.program.clock.now();
      const hold = { kind: 'all-paused', since: now, until: null, reason: `for ${account}`, actor: 'kim' } as const;
      await on.program.app.store.writer.write((tx) => setHold(tx, account, hold, now));
      on.program.clock.advance(5_000);
    };
    const page = await open(on);
    expect(await page.locator('#account option').allTextContents()).toEqual(['default', 'shop-2', 'all accounts']);
    await page.locator('#account').selectOption('shop-2');
    await page.waitForURL(/account=shop-2/);
    await pause('default');
    const listening = page.waitForResponse(/\/events\?account=shop-2/);
    await page.reload();
    await listening;
    await pause('shop-2');
    await page.locator('#verdict', { hasText: 'for shop-2' }).waitFor();
    expect(await page.locator('main').textContent()).not.toContain('for default');
    await page.locator('#account').selectOption('all');
    await page.waitForURL(/account=all/);
    const needs = await page.locator('main').textContent();
    expect([needs?.includes('for shop-2'), needs?.includes('for default'), troubles]).toEqual([true, true, []]);
  });

  it('copies a command, which has a button for it only with a script', async () => {
    const on = await board();
    const now = on.program.clock.now();
    const hold = { kind: 'all-paused', since: now, until: null, reason: 'r', actor: 'kim' } as const;
    await on.program.app.store.writer.write((tx) => setHold(tx, 'default', hold, now));
    const page = await open(on, '/', { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.locator('#problems .copy').click();
    await page.locator('#problems .copy', { hasText: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('order-sync resume --reason TEXT');
  });

  it('changes no part while a person selects a text, and then all of them', async () => {
    const on = await board();
    const page = await open(on);
    const shown = await page.locator('#program').textContent();
    await page.evaluate("getSelection().selectAllChildren(document.querySelector('h1'))");
    on.program.clock.advance(5_000);
    on.program.insert({ external_order_id: 'late' });
    await createPass(on.program.app, NEVER);
    await page.waitForResponse((response) => new URL(response.url()).pathname === '/');
    expect(await page.locator('#program').textContent()).toBe(shown);
    expect(await page.locator('#events li', { hasText: 'late' }).count()).toBe(0);
    await page.evaluate('getSelection().removeAllRanges()');
    await page.locator('#events li', { hasText: 'late' }).waitFor();
    expect(await page.locator('#program').textContent()).not.toBe(shown);
  });

  it('finds an order and shows its story, by the keyboard alone', async () => {
    const page = await open(await board());
    await page.locator('#q').focus();
    await page.keyboard.type(HOSTILE.slice(0, 9));
    await page.keyboard.press('Enter');
    await page.locator('.list th a').focus();
    await page.keyboard.press('Enter');
    await page.locator('#timeline').waitFor();
    expect(await page.locator('h1').textContent()).toContain('<script>');
    expect([await page.title(), troubles]).toEqual([expect.stringContaining('Order'), []]);
  });

  it('has a person pause by a form, also without a script', async () => {
    const on = await board();
    for (const javaScriptEnabled of [true, false]) {
      const page = await open(on, '/pause?account=default', { javaScriptEnabled });
      const form = page.locator('form[action="/actions/pause"]');
      await form.locator('[name=actor]').fill('kim');
      await form.locator('[name=reason]').fill(`script ${javaScriptEnabled}`);
      await form.locator('button').click();
      await page.locator('li', { hasText: `script ${javaScriptEnabled}` }).waitFor();
      expect(await page.locator('.actions li').textContent()).toContain('by kim (dashboard)');
    }
  });

  it('is whole without a script, and is loaded again by itself', async () => {
    const page = await open(await board(), '/', { javaScriptEnabled: false });
    expect(await page.locator('#problems li').count()).toBe(1);
    expect(await page.locator('.copy').count()).toBe(0);
    expect(await page.locator('#events li').count()).toBeGreaterThan(1);
    expect(await page.content()).toContain('http-equiv="refresh"');
  });

  it.each([
    ['phone', 390, 844, 'light'],
    ['laptop', 1_280, 900, 'light'],
    ['dark', 1_280, 900, 'dark'],
    ['wall', 3_840, 2_160, 'dark'],
  ] as const)(
    'fits a %s, and has no serious fault for axe (ORDER_SYNC_SCREENSHOTS=folder keeps pictures)',
    async (name, width, height, colorScheme) => {
      const on = await board();
      const folder = ORDER_SYNC_SCREENSHOTS ?? temporaryFolder();
      mkdirSync(folder, { recursive: true });
      for (const [part, path] of [
        ['board', '/'],
        ['found', '/orders?q=shop'],
        ['story', '/orders/held-1?account=default'],
        ['pause', '/pause?account=default'],
      ] as const) {
        const page = await open(on, path, { viewport: { width, height }, colorScheme, bypassCSP: true });
        expect(await layoutOf(page, LONGEST_WORDS)).toEqual({ overflow: 0, tooNarrow: [], broken: [] });
        await page.evaluate(axe.source);
        const found = await page.evaluate<{ violations: axe.Result[] }>('axe.run({ resultTypes: ["violations"] })');
        const grave = found.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
        expect(grave.map(({ id, nodes }) => [id, nodes[0]?.html, nodes[0]?.failureSummary])).toEqual([]);
        await page.screenshot({ path: join(folder, `dashboard-${part}-${name}.png`), fullPage: width < 2_000 });
        await page.context().close();
      }
    },
  );
});
