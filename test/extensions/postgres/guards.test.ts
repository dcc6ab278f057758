import { beforeEach, describe, expect, it } from 'vitest';
import { openMerchant } from '../../support/merchant-postgres.ts';
import type { Merchant } from '../../support/merchant.ts';
import { newPostgresDatabase } from '../../support/postgres.ts';

const COLUMNS = 'external_order_id, asset, from_currency, to_currency';
const KEY = '(account, external_order_id)';

let merchant: Merchant;
beforeEach(async () => {
  merchant = openMerchant(await newPostgresDatabase());
});

const rows = () =>
  merchant
    .prepare('select external_order_id, state, asset from merchant_orders order by external_order_id')
    .raw()
    .all();
const SENT_AND_PENDING = [
  ['new', 'pending', '1'],
  ['sent', 'sending', '1'],
];

/** An order that was sent, with its history, and one that was not. */
function sentAndPending(): void {
  merchant.exec(
    `insert into merchant_orders (${COLUMNS}) values ('sent', '1', 'BTC', 'EUR'), ('new', '1', 'BTC', 'EUR')`,
  );
  merchant.exec(
    `update merchant_orders set state = 'sending', attempts = 1, revision = 1 where external_order_id = 'sent'`,
  );
  merchant.exec(`insert into events (account, type, subject, field, old_value, new_value, observed_at, source, previous_hash, hash)
    values ('default', 'order', 'sent', 'state', 'pending', 'sending', '', 'create', '', '')`);
}

describe('a sent order in PostgreSQL', () => {
  it.each([
    `insert into merchant_orders (${COLUMNS}) values ('sent', '2', 'BTC', 'EUR')
      on conflict ${KEY} do update set asset = excluded.asset`,
    `with gone as (delete from merchant_orders where external_order_id = 'sent' returning account)
      insert into merchant_orders (${COLUMNS}) select 'sent', '2', 'BTC', 'EUR' from gone`,
    `update merchant_orders set external_order_id = 'sent' where external_order_id = 'new'`,
    'truncate merchant_orders',
  ])('is not taken away by "%s"', (text) => {
    sentAndPending();
    expect(() => merchant.exec(text)).toThrow(
      expect.objectContaining({
        code: 'OS001',
        message: expect.stringContaining('merchant_orders: this order was sent and cannot be') as string,
      }),
    );
    expect(rows()).toEqual(SENT_AND_PENDING);
  });

  it('is passed over by an insert that does nothing on conflict', () => {
    sentAndPending();
    merchant.exec(`insert into merchant_orders (${COLUMNS}) values ('sent', '9', 'BTC', 'EUR') on conflict do nothing`);
    expect(rows()).toEqual(SENT_AND_PENDING);
  });

  it('does not come again if its row was lost and its history was not', () => {
    sentAndPending();
    merchant.exec('alter table merchant_orders disable trigger zz_guard_delete');
    merchant.exec(`delete from merchant_orders where external_order_id = 'sent'`);
    expect(() => merchant.exec(`insert into merchant_orders (${COLUMNS}) values ('sent', '1', 'BTC', 'EUR')`)).toThrow(
      'this order was sent and cannot be replaced',
    );
  });

  it('may be replaced before it was sent', () => {
    sentAndPending();
    merchant.exec(`insert into merchant_orders (${COLUMNS}) values ('new', '2', 'BTC', 'EUR')
      on conflict ${KEY} do update set asset = excluded.asset`);
    expect(rows()[0]).toEqual(['new', 'pending', '2']);
  });

  it("is seen by the guards as the merchant's own triggers leave it", () => {
    merchant.exec(`create function theirs() returns trigger language plpgsql as $$
        begin new.state := 'accepted'; return new; end $$`);
    merchant.exec('create trigger theirs before insert on merchant_orders for each row execute function theirs()');
    expect(() => merchant.exec(`insert into merchant_orders (external_order_id) values ('a')`)).toThrow(
      'state is written by order-sync; leave it out',
    );
  });
});
