import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { openMerchant } from '../../support/merchant-postgres.ts';
import type { Merchant } from '../../support/merchant.ts';
import { newPostgresDatabase } from '../../support/postgres.ts';

const DOCS = new URL('../../../docs/integrating.md', import.meta.url);

/** The statements in the documentation for the role of the merchant's application: they make it and its rights. */
function documentedStatements(role: string): readonly string[] {
  const blocks = [...readFileSync(DOCS, 'utf8').matchAll(/```sql\n((?:create role|grant) .*?)```/gs)];
  // A command of psql itself is no statement.
  return blocks.map(([, block = '']) => block.replaceAll(/^\\.*$/gm, '').replaceAll(/\bshop\b/g, role));
}

describe("the role of a merchant's application, as documented", () => {
  let owner: Merchant;
  let shop: Merchant;
  beforeEach(async () => {
    const database = await newPostgresDatabase();
    const role = `shop_${randomBytes(6).toString('hex')}`;
    const [make = '', grant = ''] = documentedStatements(role);
    owner = openMerchant(database);
    openMerchant(database, 'postgres').exec(make);
    owner.exec(grant);
    shop = openMerchant(database, role);
  });

  const insert = (id: string) =>
    shop
      .prepare(`insert into merchant_orders (external_order_id, asset, from_currency, to_currency)
      values (:id, '1.5', 'BTC', 'EUR')`)
      .run({ id });
  const refused = (code: string) => expect.objectContaining({ code });

  it('inserts orders, corrects them and takes them back, and reads what became of them', () => {
    insert('a');
    insert('b');
    shop.exec(`insert into merchant_orders (external_order_id, asset) values ('a', '3')
      on conflict (account, external_order_id) do update set asset = excluded.asset`);
    shop.exec(`delete from merchant_orders where external_order_id = 'b'`);
    expect(shop.prepare('select external_order_id, asset, state from merchant_orders').raw().all()).toEqual([
      ['a', '3', 'pending'],
    ]);
    expect(shop.prepare('select count(*) from order_events').pluck().get()).toBe(0);
  });

  it.each([
    `insert into merchant_orders (external_order_id, state) values ('b', 'pending')`,
    `update merchant_orders set state = 'cancelled', revision = 1`,
    'update merchant_orders set next_action_at = null, revision = 1',
    'truncate merchant_orders',
    'alter table merchant_orders disable trigger all',
    `insert into events (account, type, subject, field, observed_at, source, previous_hash, hash)
      values ('default', 'order', 'a', 'state', '', '', '', '')`,
    'select * from events',
    'select * from account_owners',
    'select * from account_wakes',
    'select * from database_identity',
    'update account_owners set generation = 0',
    'select * from photo_tokens',
  ])('may not "%s"', (text) => {
    insert('a');
    expect(() => shop.exec(text)).toThrow(refused('42501'));
    expect(owner.prepare('select state, revision from merchant_orders').raw().all()).toEqual([['pending', 0]]);
  });

  it('is held to the history that it cannot read, whatever tables of its own it makes', () => {
    insert('a');
    owner.exec(`insert into events (account, type, subject, field, old_value, new_value, observed_at, source, previous_hash, hash)
      values ('default', 'order', 'a', 'state', 'pending', 'sending', '', 'create', '', '')`);
    shop.exec(`delete from merchant_orders where external_order_id = 'a'`);
    shop.exec(
      'create temp table events (account text, type text, subject text, field text, new_value text, id bigint)',
    );
    expect(() => insert('a')).toThrow(refused('OS001'));
  });
});
