import { expect, it } from 'vitest';
import { countMoves, recentSums, sumsAtStake } from '../../../../src/extensions/health/tables/sums.ts';
import { newTestDatabase } from '../../../support/database.ts';
import { putOrders, row } from '../../../support/stored-orders.ts';

const FROM = '2026-01-31T00:00:00.000Z';

async function storeWith(orders: readonly (readonly [createdAt: string, asset: string])[]) {
  const database = await newTestDatabase();
  const store = await database.open();
  const insert = database
    .connect()
    .prepare('insert into merchant_orders (external_order_id, created_at, asset, from_currency) values (?, ?, ?, ?)');
  for (const [index, [createdAt, asset]] of orders.entries()) insert.run(`o${index}`, createdAt, asset, 'BTC');
  return store;
}

it('adds up the orders that were inserted since a time, exactly', async () => {
  const store = await storeWith([
    [FROM, '0.1'],
    ['2026-01-31T23:59:59.999Z', '0.2'],
    ['2026-01-30T23:59:59.999Z', '0.4'],
  ]);
  await using snapshot = await store.snapshot();
  const { parts, cutAt } = await recentSums(snapshot.db, 'default', FROM);
  expect([parts.map(({ orders, asset }) => [orders, asset]), cutAt]).toEqual([[[2, '0.3']], null]);
});

it('adds no amount of a row that was refused, which may be below zero', async () => {
  const database = await newTestDatabase();
  const store = await database.open();
  const merchant = database.connect();
  const at = { created_at: FROM, from_currency: 'BTC', to_currency: 'EUR' };
  putOrders(merchant, 'pending', row('a', { ...at, asset: '0.1' }));
  putOrders(merchant, 'invalid', row('b', { ...at, asset: '-5' }));
  await using snapshot = await store.snapshot();
  const { parts } = await recentSums(snapshot.db, 'default', FROM);
  expect(Object.fromEntries(parts.map(({ state, asset }) => [state, asset]))).toEqual({ pending: '0.1', invalid: '0' });
});

it('adds up the newest orders alone if there are too many, and says since when', async () => {
  const times = Array.from({ length: 5_002 }, (_, index) => new Date(Date.parse(FROM) + index * 1_000).toISOString());
  const store = await storeWith(times.map((time) => [time, '1'] as const));
  await using snapshot = await store.snapshot();
  const { parts, cutAt } = await recentSums(snapshot.db, 'default', FROM);
  expect([parts[0]?.orders, cutAt]).toEqual([5_001, times[1]]);
});

it.each([
  [13, { 'inserted 2026-01-31T00': 2, 'inserted 2026-01-31T13': 1 }],
  [16, { 'inserted 2026-01-31T00:00': 1, 'inserted 2026-01-31T00:59': 1, 'inserted 2026-01-31T13:00': 1 }],
])('counts what orders did by the first %s characters of its time', async (digits, expected) => {
  const store = await storeWith([
    [FROM, '1'],
    ['2026-01-31T00:59:59.999Z', '1'],
    ['2026-01-31T13:00:00.000Z', '1'],
    ['2026-01-30T23:59:59.999Z', '1'],
  ]);
  const { orders, cutAt } = await countMoves(store.db, 'default', FROM, digits);
  expect([Object.fromEntries(orders), cutAt]).toEqual([expected, null]);
});

async function sums(concerned: Parameters<typeof sumsAtStake>[2]) {
  const database = await newTestDatabase();
  const store = await database.open();
  const sqlite = database.connect();
  const insert = sqlite.prepare(
    `insert into merchant_orders (account, external_order_id, asset, from_currency, to_currency, created_at)
    values (?, ?, ?, 'BTC', ?, ?)`,
  );
  insert.run('default', 'a', '0.1', 'EUR', '2026-01-30T00:00:00.000Z');
  insert.run('default', 'b', '0.200000000000000000001', 'EUR', FROM);
  insert.run('default', 'c', '4', 'USD', '2026-02-01T00:00:00.000Z');
  insert.run('other', 'a', '8', 'EUR', FROM);
  insert.run('default', 'd', '-16', 'EUR', FROM);
  sqlite.exec("update merchant_orders set state = 'invalid', revision = 1 where external_order_id = 'd'");
  const find = sqlite.prepare(
    `insert into findings (account, class, severity, external_order_id, expected, first_seen_at, last_seen_at, status)
    values ('default', ?, 'error', ?, ?, '2026', '2026', ?)`,
  );
  find.run('STUCK', 'a', '1', 'open');
  find.run('STUCK', 'a', '2', 'open');
  find.run('STUCK', 'c', '1', 'resolved');
  find.run('LATE', 'b', '1', 'open');
  find.run('STUCK', 'd', '1', 'open');
  await using snapshot = await store.snapshot();
  const rows = await sumsAtStake(snapshot.db, 'default', concerned);
  return Object.fromEntries(rows.map(({ to_currency: to, asset }) => [String(to), asset]));
}

it('adds up the amounts of the orders in a state exactly, by pair', async () => {
  expect(await sums({ state: 'pending' })).toEqual({ EUR: '0.300000000000000000001', USD: '4' });
  expect(await sums({ state: 'held' })).toEqual({});
  expect(await sums({ state: 'invalid' })).toEqual({ EUR: '0' });
});

it('adds up the amounts of the orders in a state that were inserted from a time on', async () => {
  expect(await sums({ state: 'pending', since: FROM })).toEqual({ EUR: '0.200000000000000000001', USD: '4' });
});

it('adds up the amount of an order with open findings of a class once', async () => {
  expect(await sums({ class: 'STUCK', status: 'open' })).toEqual({ EUR: '0.1' });
});
