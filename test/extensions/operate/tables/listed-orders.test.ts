import { expect, it } from 'vitest';
import { listOrders, ORDER_SORTS, type OrderPlace } from '../../../../src/extensions/operate/tables/listed-orders.ts';
import { newTestDatabase } from '../../../support/database.ts';

const PERIOD = { from: '2026-01-02T00:00:00.000Z', to: '2026-01-09T00:00:00.000Z' };

it.each(ORDER_SORTS)('a list that may look at few orders continues after them, and misses none: %s', async (sort) => {
  const database = await newTestDatabase();
  const store = await database.open();
  const insert = database
    .connect()
    .prepare(
      'insert into merchant_orders (external_order_id, created_at, from_currency, to_currency) values (?, ?, ?, ?)',
    );
  const ids = Array.from({ length: 60 }, (_, index) => `o-${String(index).padStart(2, '0')}`);
  // Several were inserted at one moment, and one in seven is of the pair.
  for (const [index, id] of ids.entries()) {
    insert.run(id, `2026-01-0${1 + Math.floor(index / 7)}T00:00:00.000Z`, index % 7 === 3 ? 'ETH' : 'BTC', 'EUR');
  }
  const query = { account: 'default', pair: { from: 'ETH', to: 'EUR' }, sort, limit: 100, mostRead: 5, ...PERIOD };
  const found: string[] = [];
  let [pages, after]: [number, OrderPlace | undefined] = [0, undefined];
  do {
    const { rows, isCut, lookedUntil } = await listOrders(store.db, { ...query, after });
    found.push(...rows.map((row) => row.external_order_id));
    pages += 1;
    after = isCut ? lookedUntil : undefined;
  } while (after !== undefined && pages < 30);
  const all = ids.filter((_id, index) => index % 7 === 3 && index >= 7 && index < 56);
  expect(found).toEqual(sort === 'newest' ? all.toReversed() : all);
  expect(pages).toBeGreaterThan(5);
});

it.each(['default', undefined])(
  'a full list says that it is cut if it may lack newer matches of an id: account %s',
  async (account) => {
    const database = await newTestDatabase();
    const store = await database.open();
    const insert = database
      .connect()
      .prepare(`insert into merchant_orders (external_order_id, created_at) values (?, ?)`);
    for (let index = 1; index <= 6; index += 1) insert.run(`o-${index}`, `2026-01-0${index}T00:00:00.000Z`);
    const query = { account, order: { id: 'o-', isPrefix: true }, limit: 2 };
    expect(await listOrders(store.db, { ...query, mostRead: 5 })).toMatchObject({ rows: [{}, {}], isCut: true });
    expect(await listOrders(store.db, { ...query, mostRead: 6 })).toMatchObject({ rows: [{}, {}], isCut: false });
  },
);
