import { describe, expect, it } from 'vitest';
import { createPass } from '../../../../src/orders/create.ts';
import { testOps, type TestOps } from '../../../support/ops-endpoint.ts';
import { unguarded } from '../../../support/unguarded.ts';
import { withSettings } from '../../../support/settings.ts';

const NEVER = new AbortController().signal;
const LONG = `tenant-north/${'0123456789'.repeat(12)}`;
const HOSTILE = `"'><script>alert(1)</script>`;

type Get = TestOps['get'];

/** A dashboard on which a person may decide, or may not. */
async function dashboard(actions: 'on' | 'off' = 'off', accounts: readonly string[] = ['default']) {
  const on = await testOps({
    instead: ({ config }) => ({
      config: {
        ...withSettings(config, { ops: { actions, listen: { host: '127.0.0.1', port: 0 } } }),
        accounts: accounts.map((name) => ({ ...config.accounts[0]!, name })),
      },
      accounts: { names: accounts },
    }),
  });
  const change = (...statements: readonly string[]) =>
    unguarded(on.program.merchant, () => on.program.merchant.exec(statements.join(';')));
  return { ...on, change };
}

async function pageOf(get: Get, path: string): Promise<string> {
  const answer = await get(path);
  expect([path, answer.status]).toEqual([path, 200]);
  const page = await answer.text();
  expect(page).not.toContain('<script>alert');
  return page;
}

/** The texts of the cells of a column, top to bottom. */
function cellsOf(page: string, label: string): readonly string[] {
  const cells = [...page.matchAll(/<t[hd][^>]* data-label="([^"]*)"[^>]*>(.*?)<\/t[hd]>/g)];
  return cells.filter(([, name]) => name === label).map(([, , text = '']) => plain(text));
}

function plain(markup: string): string {
  return markup
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&#(\d+);/g, (_all, code: string) => String.fromCharCode(Number(code)));
}

function linkOf(page: string, text: string): string | undefined {
  const [, path] = new RegExp(`<a href="([^"]*)">${text}</a>`).exec(page) ?? [];
  return path && plain(path);
}

function commandsOf(page: string): readonly string[] {
  return [...page.matchAll(/<code data-copy tabindex="0">(.*?)<\/code>/g)].map(([, text = '']) => plain(text));
}

/** The values of a column on all the pages of a list. */
async function walked(get: Get, first: string, label: string): Promise<string[][]> {
  const pages: string[][] = [];
  for (let path: string | undefined = first; path !== undefined && pages.length < 20;) {
    const page = await pageOf(get, path);
    pages.push([...cellsOf(page, label)]);
    path = linkOf(page, 'Next page');
  }
  return pages;
}

describe('the page of orders', () => {
  it.each(['newest', 'oldest', 'id'])('has each order once, also if many were inserted at once: %s', async (sort) => {
    const { program, get, change } = await dashboard();
    const ids = Array.from({ length: 120 }, (_, index) => `shop-${String(index).padStart(3, '0')}`);
    program.insert(...ids.map((external_order_id) => ({ external_order_id })));
    change(
      "update merchant_orders set created_at = '2026-01-01T00:00:00.000Z' where external_order_id < 'shop-070'",
      "update merchant_orders set created_at = '2026-01-02T00:00:00.000Z' where external_order_id >= 'shop-070'",
    );
    const pages = await walked(get, `/orders?sort=${sort}`, 'Order');
    expect(pages.map(({ length }) => length)).toEqual([50, 50, 20]);
    expect(pages.flat()).toEqual(sort === 'newest' ? ids.toReversed() : ids);
  });

  it('narrows down by the filter in its address, and has the command that exports the same', async () => {
    const { program, get, change } = await dashboard();
    program.insert(...['a', 'b', 'c', 'd', 'e'].map((external_order_id) => ({ external_order_id })));
    change(
      "update merchant_orders set state = 'final', outcome = 'succeeded' where external_order_id = 'a'",
      "update merchant_orders set state = 'final', outcome = 'failed' where external_order_id = 'b'",
      "update merchant_orders set state = 'final' where external_order_id = 'c'",
      "update merchant_orders set created_at = '2026-01-01T00:00:00.000Z', from_currency = 'ETH' where external_order_id = 'd'",
    );
    const shown = async (query: string) => cellsOf(await pageOf(get, `/orders?sort=id&${query}`), 'Order');
    expect(await shown('state=final')).toEqual(['a', 'b', 'c']);
    expect(await shown('outcome=succeeded')).toEqual(['a']);
    expect(await shown('outcome=failed')).toEqual(['b']);
    expect(await shown('outcome=outcome_unknown')).toEqual(['c']);
    expect(await shown('pair=ETH/EUR')).toEqual(['d']);
    expect(await shown('until=2026-01-02')).toEqual(['d']);
    expect(await shown('since=2026-01-02T00:00:00.000Z&state=pending')).toEqual(['e']);
    expect(await shown('q=c&state=pending')).toEqual([]);
    const page = await pageOf(get, '/orders?sort=id&state=final&outcome=failed&pair=BTC/EUR&since=2026-01-02');
    expect(commandsOf(page)).toEqual([
      'order-sync orders export --out orders.csv --state final --outcome failed --pair BTC/EUR --from 2026-01-02',
    ]);
    expect(page).toContain('<option value="final" selected>');
    expect(page).toContain('name="since" value="2026-01-02"');
    // No command exports the orders whose ids begin alike.
    expect(commandsOf(await pageOf(get, '/orders?q=a'))).toEqual([]);
  });

  it('says in the words of all surfaces whether an order paid', async () => {
    const { program, get, change } = await dashboard();
    program.insert(...['a', 'b', 'c'].map((external_order_id) => ({ external_order_id })));
    change(
      "update merchant_orders set state = 'final'",
      "update merchant_orders set outcome = 'succeeded' where external_order_id = 'a'",
      "update merchant_orders set outcome = 'failed' where external_order_id = 'b'",
    );
    const page = await pageOf(get, '/orders?sort=id');
    expect(cellsOf(page, 'What happened')).toEqual(['paid', 'failed', expect.stringContaining('not known')]);
  });

  it('keeps every digit, and is not broken by any cell', async () => {
    const { program, get, change } = await dashboard();
    for (const id of [LONG, HOSTILE, '\u202Eevil', 'עברית']) program.insert({ external_order_id: id });
    program.insert({ external_order_id: 'exact', asset: '12.000000012345678901' });
    change("update merchant_orders set asset = x'00ff' where external_order_id = 'עברית'");
    const page = await pageOf(get, '/orders?sort=id');
    expect(cellsOf(page, 'Amount')).toContain('12.000000012345678901');
    expect(cellsOf(page, 'Amount').includes('<bytes>')).toBe(program.config.database.kind === 'sqlite');
    expect(cellsOf(page, 'Order')).toContain('\\u202eevil');
    expect(page).toContain(`data-copy="${LONG}"`);
  });

  it('of all accounts has the ones that need a person first, and no next page', async () => {
    const { program, get, change } = await dashboard('off', ['default', 'shop-2']);
    const ids = Array.from({ length: 120 }, (_, index) => `${index < 60 ? 'a' : 'b'}-${index}`);
    program.insert(...ids.map((external_order_id) => ({ external_order_id })));
    change(
      "update merchant_orders set account = 'shop-2' where external_order_id like 'b-%'",
      "update merchant_orders set state = 'held' where external_order_id = 'b-77'",
    );
    const page = await pageOf(get, '/orders');
    expect([cellsOf(page, 'Order')[0], cellsOf(page, 'Account')[0]]).toEqual(['b-77', 'shop-2']);
    expect([cellsOf(page, 'Order').length, linkOf(page, 'Next page')]).toEqual([50, undefined]);
    const one = await walked(get, '/orders?account=shop-2', 'Order');
    expect(one.map(({ length }) => length)).toEqual([50, 10]);
  });

  it.each(['state=paid', 'sort=why', 'pair=BTC', 'since=yesterday', 'after=x', 'outcome=%00'])(
    'refuses a filter that it cannot read, on a page: %s',
    async (query) => {
      const { get } = await dashboard();
      const answer = await get(`/orders?${query}`);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8']);
      expect(await answer.text()).toContain('role="search"');
    },
  );
});

describe('the page of findings', () => {
  const put = (
    on: Awaited<ReturnType<typeof dashboard>>,
    name: string,
    severity: string,
    id: string,
    status = 'open',
  ) =>
    on.program.merchant
      .prepare(
        `insert into findings (account, class, severity, external_order_id, expected, actual, status, first_seen_at, last_seen_at)
        values ('default', ?, ?, ?, '1', '2', ?, '2026-01-05T10:00:00.000Z', '2026-01-05T10:00:00.000Z')`,
      )
      .run(name, severity, id, status);

  it('has each finding once, the worst first, each of which leads to its order', async () => {
    const on = await dashboard();
    for (let index = 0; index < 40; index += 1) {
      put(on, 'STUCK', 'warning', `stuck-${index}`);
      put(on, 'AMOUNT_MISMATCH', 'error', `amount-${index}`);
      put(on, 'ADDRESS_CHANGED', 'error', `address-${index}`);
    }
    const pages = await walked(on.get, '/findings', 'Order');
    expect(pages.map(({ length }) => length)).toEqual([50, 50, 20]);
    const all = pages.flat();
    expect(new Set(all).size).toBe(120);
    expect(all.slice(80).every((id) => id.startsWith('stuck-'))).toBe(true);
    const page = await pageOf(on.get, '/findings');
    expect(page).toContain('href="/orders/address-39?account=default"');
  });

  it('narrows down by the filter in its address, and says what a class means and what to do', async () => {
    const on = await dashboard();
    put(on, 'STUCK', 'warning', 'a');
    put(on, 'STUCK', 'warning', 'b', 'resolved');
    put(on, 'AMOUNT_MISMATCH', 'error', 'c', 'acknowledged');
    const shown = async (query: string) => cellsOf(await pageOf(on.get, `/findings?${query}`), 'Order');
    expect(await shown('')).toEqual(['a']);
    expect(await shown('status=any')).toEqual(['c', 'b', 'a']);
    expect(await shown('status=any&severity=warning')).toEqual(['b', 'a']);
    expect(await shown('status=acknowledged')).toEqual(['c']);
    const page = await pageOf(on.get, '/findings?class=STUCK&status=resolved');
    expect(cellsOf(page, 'Order')).toEqual(['b']);
    expect(page).toContain('What to do:');
    expect(commandsOf(page)).toEqual([
      'order-sync findings list --json --limit 9999999 --status resolved --class STUCK',
    ]);
    expect((await on.get('/findings?class=NONE')).status).toBe(400);
  });
});

describe('the page of an order', () => {
  async function heldOrder(actions: 'on' | 'off', id = 'a') {
    const on = await dashboard(actions);
    on.program.insert({ external_order_id: id });
    await createPass(on.program.app, NEVER);
    on.change(`update merchant_orders set state = 'held' where external_order_id = '${id}'`);
    on.program.merchant.exec(`insert into events (account, type, subject, field, old_value, new_value, observed_at,
        source, previous_hash, hash) values ('default', 'order', '${id}', 'state', 'unknown', 'held',
        '2026-01-05T12:00:00.000Z', 'lookup', '', 'x');
      insert into findings (account, class, severity, external_order_id, first_seen_at, last_seen_at)
        values ('default', 'STUCK', 'warning', '${id}', '2026-01-05T12:00:00.000Z', '2026-01-05T12:00:00.000Z')`);
    return await pageOf(on.get, `/orders/${encodeURIComponent(id)}`);
  }
  const orderOf = (page: string, ...parts: readonly string[]) => parts.map((part) => page.indexOf(part));

  it('begins with what happened, then has the decision as commands if decisions are off', async () => {
    const page = await heldOrder('off');
    expect(/class="verdict error".*?<p>(.*?)<\/p>/s.exec(page)?.[1]).toMatch(/^The order has been held .* not known/);
    const places = orderOf(page, 'class="verdict', '--as exists', 'class="cards', 'id="timeline"');
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places).not.toContain(-1);
    expect(commandsOf(page)).toContain('order-sync orders resolve a --as abandoned --reason TEXT');
    expect(commandsOf(page)).toContain('order-sync findings ack 1 --reason TEXT');
    expect(page).not.toContain('method="post"');
  });

  it('has the decision as a form if decisions are on, once, and no command that does the same', async () => {
    const page = await heldOrder('on');
    const places = orderOf(
      page,
      'class="verdict',
      'action="/actions/order"',
      'action="/actions/findings"',
      'class="cards',
    );
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places).not.toContain(-1);
    expect(page.split('action="/actions/order"')).toHaveLength(2);
    expect(commandsOf(page)).toEqual(['order-sync exchange lookup a']);
  });

  it('shows the whole id, however long', async () => {
    expect(await heldOrder('off', LONG)).toContain(`<code data-copy="${LONG}">${LONG}</code>`);
  });

  it.each(['/orders/nobody', '/?account=nobody'])('is a page with the search if there is none: %s', async (path) => {
    const { get } = await dashboard();
    const answer = await get(path);
    const page = await answer.text();
    expect(answer.status).toBe(404);
    expect(page).toContain('role="search"');
    expect(page).toContain('<a href="/">');
  });
});
