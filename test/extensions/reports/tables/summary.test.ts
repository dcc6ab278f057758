import { beforeEach, describe, expect, it } from 'vitest';
import { summarize } from '../../../../src/extensions/reports/summary.ts';
import { putOrders, row } from '../../../support/stored-orders.ts';
import { summaryParts, type RowFilter } from '../../../../src/extensions/reports/tables/summary.ts';
import { isSqlite, newTestDatabase, ofSqlite } from '../../../support/database.ts';
import type { Merchant } from '../../../support/merchant.ts';
import type { Store } from '../../../../src/store/port.ts';

let store: Store;
let merchant: Merchant;
beforeEach(async () => {
  const database = await newTestDatabase();
  store = await database.open();
  merchant = database.connect();
});

function run(sql: string, rows: readonly (readonly unknown[])[] = [[]]): void {
  const statement = merchant.prepare(sql);
  merchant.transaction(() => rows.forEach((values) => statement.run(...values)))();
}

const insert = (...assets: unknown[]) =>
  run(
    'insert into merchant_orders (external_order_id, asset) values (?, ?)',
    assets.map((asset, index) => [`o${index}`, asset]),
  );
const summary = async (filter: Partial<RowFilter> = {}) =>
  summarize(await Array.fromAsync(summaryParts(store, { account: 'default', ...filter })));

describe('the summary of a database', () => {
  it.each([
    [['12345678901234567.123456789012345678'], '12345678901234567.123456789012345678'],
    [['12345678901234567.123456789012345678', '0.000000000000000001'], '12345678901234567.123456789012345679'],
    [['0.1', '0.2'], '0.3'],
    [['9007199254740993', '1'], '9007199254740994'],
    [['1e-18', '1e21'], '1000000000000000000000.000000000000000001'],
    [['1.50'], '1.5'],
    [['5.0', '-5'], '0'],
    [[], '0'],
  ])('sums %j to exactly %s, in plain digits', async (assets, sum) => {
    insert(...assets, null);
    expect(await summary()).toEqual([
      expect.objectContaining({ asset: sum, orders: assets.length + 1, unreadable: 1, state: 'pending' }),
    ]);
  });

  it('counts orders whose asset is no number, and sums the others', async () => {
    insert('one', null, isSqlite() ? Buffer.from('1') : 'x', '2');
    expect(await summary()).toEqual([expect.objectContaining({ orders: 4, asset: '2', unreadable: 3 })]);
  });

  it('sums no amount of an invalid row, which may be below zero', async () => {
    insert('2');
    putOrders(merchant, 'invalid', row('bad', { asset: '-5' }));
    expect((await summary()).map(({ state, orders, asset, unreadable }) => [state, orders, asset, unreadable])).toEqual(
      expect.arrayContaining([
        ['pending', 1, '2', 0],
        ['invalid', 1, '0', 1],
      ]),
    );
  });

  it(
    'meets each row once, over many pages, with an empty id and with one that is no text',
    ofSqlite('text that is none'),
    async () => {
      run(`with recursive n(i) as (select 1 union all select i + 1 from n where i < 45000)
      insert into merchant_orders (external_order_id, asset) select printf('%05d', i), '0.000000000000000001' from n`);
      run(
        `insert into merchant_orders (external_order_id) values (''), (cast(x'ff41' as text)), (cast(x'ff' as text))`,
      );
      run(`insert into merchant_orders (account, external_order_id) values ('other', 'x')`);
      expect(await summary()).toEqual([
        expect.objectContaining({ orders: 45_003, asset: '0.000000000000045', unreadable: 3 }),
      ]);
    },
  );

  it('is that of the rows inserted from a time on, and before another', async () => {
    const time = (day: string) => `2026-01-${day}T00:00:00.000Z`;
    run(
      'insert into merchant_orders (external_order_id, created_at) values (?, ?)',
      ['01', '02', '03'].map((day) => [day, time(day)]),
    );
    const count = async (filter: Partial<RowFilter>) =>
      (await summary(filter)).reduce((sum, { orders }) => sum + orders, 0);
    expect(await count({ from: time('02') })).toBe(2);
    expect(await count({ to: time('02') })).toBe(1);
    expect(await count({ from: time('02'), to: time('03') })).toBe(1);
  });
});
