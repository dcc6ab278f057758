import { expect, it } from 'vitest';
import { accountWithOrder } from '../../../../src/extensions/commands/tables/accounts.ts';
import { newTestDatabase } from '../../../support/database.ts';
import { putOrders, row } from '../../../support/stored-orders.ts';

it('an order is found in the first, by name, of several accounts that have it', async () => {
  const database = await newTestDatabase();
  const [{ db }, merchant] = [await database.open(), database.connect()];
  putOrders(merchant, 'open', row('a'), row('a', { account: 'other' }), row('b', { account: 'other' }));
  const find = (...accounts: readonly string[]) => accountWithOrder(db, accounts, 'a');
  expect(await find('other', 'default')).toBe('default');
  expect(await find('other')).toBe('other');
  expect(await accountWithOrder(db, ['default', 'other'], 'b')).toBe('other');
  expect(await accountWithOrder(db, ['default'], 'b')).toBeUndefined();
  expect(await find()).toBeUndefined();
});
