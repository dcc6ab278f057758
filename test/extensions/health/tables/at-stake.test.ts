import { expect, it } from 'vitest';
import { sumsAtStake } from '../../../../src/extensions/health/tables/at-stake.ts';
import { newTestDatabase } from '../../../support/database.ts';

async function sums(concerned: Parameters<typeof sumsAtStake>[2]) {
  const database = await newTestDatabase();
  const store = await database.open();
  const sqlite = database.connect();
  const insert = sqlite.prepare(
    `insert into merchant_orders (account, external_order_id, asset, from_currency, to_currency) values (?, ?, ?, 'BTC', ?)`,
  );
  insert.run('default', 'a', '0.1', 'EUR');
  insert.run('default', 'b', '0.200000000000000000001', 'EUR');
  insert.run('default', 'c', '4', 'USD');
  insert.run('other', 'a', '8', 'EUR');
  insert.run('default', 'd', '-16', 'EUR');
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

it('adds up the amount of an order with open findings of a class once', async () => {
  expect(await sums({ class: 'STUCK', status: 'open' })).toEqual({ EUR: '0.1' });
});
