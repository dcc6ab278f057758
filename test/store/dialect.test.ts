import { describe, expect, it } from 'vitest';
import { queries } from '../../src/store/dialect.ts';

const orders = queries.selectFrom('merchant_orders').select('state').where('account', '=', 'a');

describe('a query for SQLite', () => {
  it('has a constant limit in its text, as a limit that is a parameter has it planned anew at each run', () => {
    expect(orders.limit(1).compile()).toMatchObject({
      sql: 'select "state" from "merchant_orders" where "account" = ? limit 1',
      parameters: ['a'],
    });
  });

  it('adds 0 to a limit that is a value of each run, for the same reason', () => {
    const placeholder = { name: 'limit' } as unknown as number;
    expect(orders.limit(placeholder).compile()).toMatchObject({
      sql: 'select "state" from "merchant_orders" where "account" = ? limit 0 + ?',
      parameters: ['a', placeholder],
    });
  });
});
