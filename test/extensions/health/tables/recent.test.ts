import { expect, it } from 'vitest';
import { countHours, recentParts } from '../../../../src/extensions/health/tables/recent.ts';
import { newTestDatabase } from '../../../support/database.ts';

const TIMES = ['2026-01-31T00:00:00.000Z', '2026-01-24T00:00:00.000Z'] as const;

async function storeWith(orders: readonly (readonly [createdAt: string, asset: string])[]) {
  const database = await newTestDatabase();
  const store = await database.open();
  const insert = database
    .connect()
    .prepare('insert into merchant_orders (external_order_id, created_at, asset, from_currency) values (?, ?, ?, ?)');
  for (const [index, [createdAt, asset]] of orders.entries()) insert.run(`o${index}`, createdAt, asset, 'BTC');
  return store;
}

it('adds an order to each period in which it was inserted', async () => {
  const store = await storeWith([
    ['2026-01-31T00:00:00.000Z', '0.1'],
    ['2026-01-30T23:59:59.999Z', '0.2'],
    ['2026-01-24T00:00:00.000Z', '0.4'],
    ['2026-01-23T23:59:59.999Z', '0.8'],
  ]);
  const recent = await recentParts(store, 'default', TIMES);
  const sums = recent.map(({ parts, cutAt }) => [cutAt, ...parts.map(({ asset }) => asset).toSorted()]);
  expect(sums).toEqual([
    [null, '0.1'],
    [null, '0.1', '0.6'],
  ]);
});

it('counts the orders of each hour from the time on', async () => {
  const store = await storeWith([
    ['2026-01-31T00:00:00.000Z', '1'],
    ['2026-01-31T00:59:59.999Z', '1'],
    ['2026-01-31T13:00:00.000Z', '1'],
    ['2026-01-30T23:59:59.999Z', '1'],
  ]);
  const { orders, cutAt } = await countHours(store.db, 'default', TIMES[0]);
  expect([Object.fromEntries(orders), cutAt]).toEqual([
    { 'inserted 2026-01-31T00': 2, 'inserted 2026-01-31T13': 1 },
    null,
  ]);
});
