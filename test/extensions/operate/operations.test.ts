import { describe, expect, it } from 'vitest';
import { SEVERITIES } from '../../../src/findings/rules/classes.ts';
import { controlSocket, failureIn, type ServedSocket, type SocketAnswer } from '../../support/control-socket.ts';

interface Page {
  readonly orders?: readonly Readonly<Record<string, unknown>>[];
  readonly findings?: readonly Readonly<Record<string, unknown>>[];
  readonly next: string | null;
}

const pageIn = ({ status, text }: SocketAnswer) => {
  expect([status, text]).toEqual([200, text]);
  return (JSON.parse(text) as { value: Page }).value;
};

/** Reads a list to its end, and returns its pages. */
async function pages(on: ServedSocket, path: string): Promise<Page[]> {
  const all: Page[] = [];
  for (let after = ''; all.length < 50;) {
    const page = pageIn(await on.ask('GET', `${path}${after}`));
    all.push(page);
    if (page.next === null) return all;
    after = `&after=${page.next}`;
  }
  return expect.fail('the list does not end');
}

describe('GET /merchant-orders', () => {
  const IDS = ['a', 'b', 'é', '😀', 'a/b', 'a b', "x'y", '0'];

  async function orders() {
    const on = await controlSocket();
    for (const [index, id] of IDS.entries()) {
      // Several were inserted at one moment.
      if (index % 3 === 0) on.program.clock.advance(1);
      on.program.insert({ external_order_id: id });
    }
    return on;
  }
  const idsOf = (all: readonly Page[]) =>
    all.flatMap((page) => page.orders?.map((row) => row['external_order_id']) ?? []);

  it('has all orders, the newest first, in pages by the cursor of the page before', async () => {
    const on = await orders();
    const newest = on.program.merchant
      .prepare('select external_order_id from merchant_orders order by created_at desc, external_order_id desc')
      .pluck()
      .all();
    for (const limit of [1, 3, 8, 50]) {
      const all = await pages(on, `/merchant-orders?limit=${limit}`);
      expect(idsOf(all)).toEqual(newest);
      expect(all).toHaveLength(Math.max(1, Math.ceil(IDS.length / limit)));
    }
  });

  it('continues in its place while orders are inserted, and narrows down by state', async () => {
    const on = await orders();
    await on.ask('POST', '/orders/b/cancel', { reason: 'r' });
    const { next } = pageIn(await on.ask('GET', '/merchant-orders?limit=5'));
    on.program.clock.advance(1);
    on.program.insert({ external_order_id: 'new' });
    const rest = pageIn(await on.ask('GET', `/merchant-orders?after=${next}`));
    expect(rest.orders).toHaveLength(3);
    expect(idsOf(await pages(on, '/merchant-orders?state=cancelled&limit=1'))).toEqual(['b']);
    expect(idsOf(await pages(on, '/merchant-orders?state=pending&limit=2'))).toHaveLength(8);
    expect(idsOf(await pages(on, '/merchant-orders?state=held&limit=2'))).toEqual([]);
    expect(idsOf(await pages(on, '/merchant-orders?account=other&limit=2'))).toEqual([]);
  });

  it('hides the payment token, as GET /orders/{id} does, and has the same columns', async () => {
    const on = await orders();
    on.program.merchant.exec(`update merchant_orders set payment_token = 'canary' where external_order_id = 'a'`);
    const answer = await on.ask('GET', '/merchant-orders');
    const listed = pageIn(answer).orders?.find((row) => row['external_order_id'] === 'a');
    const shown = JSON.parse((await on.ask('GET', '/orders/a')).text) as { value: { order: object } };
    expect(listed).toEqual(shown.value.order);
    expect(listed).toMatchObject({ payment_token: '<hidden>' });
    expect(answer.text).not.toContain('canary');
  });
});

describe('GET /findings', () => {
  const ROWS = [
    ['STUCK', 'warning', 'a', 'open'],
    ['AMOUNT_MISMATCH', 'error', 'a', 'open'],
    ['STUCK', 'warning', 'b', 'acknowledged'],
    ['AMOUNT_MISMATCH', 'error', 'b', 'resolved'],
    ['STUCK', 'warning', 'é', 'open'],
    ['UNHEARD_OF', 'warning', 'a', 'open'],
    ['FAIL_OVER', 'error', null, 'open'],
  ] as const;

  async function findings() {
    const on = await controlSocket();
    const insert = on.program.merchant.prepare(
      `insert into findings (account, class, severity, external_order_id, status, first_seen_at, last_seen_at)
        values ('default', ?, ?, ?, ?, '2026', '2026')`,
    );
    for (const row of ROWS) insert.run(...row);
    return on;
  }
  const idsOf = (all: readonly Page[]) => all.flatMap((page) => page.findings?.map((row) => row['id']) ?? []);

  it.each([
    ['', [7, 4, 2, 6, 5, 3, 1]],
    ['&status=open', [7, 2, 6, 5, 1]],
    ['&class=STUCK', [5, 3, 1]],
    ['&class=STUCK&status=acknowledged', [3]],
    ['&order=a', [2, 6, 1]],
    ['&order=%C3%A9', [5]],
    ['&order=a*', []],
  ])('has the worst first, then the newest, in pages: %s', async (filter, ids) => {
    const on = await findings();
    for (const limit of [1, 2, 50]) {
      const all = await pages(on, `/findings?limit=${limit}${filter}`);
      expect([limit, idsOf(all)]).toEqual([limit, ids]);
      expect(all).toHaveLength(Math.max(1, Math.ceil(ids.length / limit)));
    }
  });

  it('says what each is about', async () => {
    const on = await findings();
    const { findings: [first] = [] } = pageIn(await on.ask('GET', '/findings?order=a&limit=1'));
    expect(first).toMatchObject({ id: 2, external_order_id: 'a', class: 'AMOUNT_MISMATCH', status: 'open' });
    expect(SEVERITIES).toContain(first?.['severity']);
  });
});

describe('a list', () => {
  it.each([
    '/merchant-orders?after=x',
    `/merchant-orders?after=${Buffer.from('["error",1]').toString('base64url')}`,
    '/findings?after=',
    `/findings?after=${Buffer.from('["2026","a"]').toString('base64url')}`,
  ])('is not read after what is no cursor of it: %s', async (path) => {
    const on = await controlSocket();
    const answer = await on.ask('GET', path);
    expect([answer.status, failureIn(answer).reason]).toEqual([400, 'cursor-unreadable']);
  });

  it.each(['/merchant-orders?limit=0', '/merchant-orders?limit=1001', '/merchant-orders?state=x', '/findings?class=x'])(
    'is not read with %s',
    async (path) => {
      const on = await controlSocket();
      const answer = await on.ask('GET', path);
      expect([answer.status, failureIn(answer).kind]).toEqual([400, 'invalid']);
    },
  );
});
