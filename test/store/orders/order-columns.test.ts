import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OrderState } from '../../../src/orders/rules/states.ts';
import type { Tracking } from '../../../src/orders/rules/tracking.ts';
import type { MerchantOrder } from '../../../src/orders/rules/record.ts';
import {
  changedFields,
  columnsOf,
  ROW_COLUMNS,
  sentOrderOf,
  TRACKED_FIELDS,
  trackedColumnsOf,
  trackingOf,
  uncheckedOrderOf,
  type OrderColumns,
  type OrderRow,
} from '../../../src/store/orders/order-columns.ts';
import { newTestDatabase } from '../../support/database.ts';
import { trackingWith } from '../../support/tracking.ts';

const NO_COLUMNS: OrderColumns = {
  external_order_id: 'a',
  asset: null,
  asset_position: null,
  from_currency: null,
  to_currency: null,
  order_type: null,
  order_limit: null,
  payment_token: null,
  provider_type: null,
  crypto_address: null,
  bonus: null,
};

/** The row of an order that is tracked so: times as they are stored. */
function rowOf({ account, externalOrderId, ...tracking }: Tracking): OrderRow {
  const stored = Object.entries(trackedColumnsOf({ account, externalOrderId, ...tracking }, TRACKED_FIELDS)).map(
    ([column, value]) => [
      column,
      (value as unknown) instanceof Date ? (value as unknown as Date).toISOString() : value,
    ],
  );
  const times = { created_at: '', updated_at: '' };
  return {
    ...NO_COLUMNS,
    account,
    external_order_id: externalOrderId,
    ...times,
    ...Object.fromEntries(stored),
  } as OrderRow;
}

it('reads every column of the table and no other', async () => {
  const database = await newTestDatabase();
  const store = await database.open();
  database.connect().exec(`insert into merchant_orders (external_order_id) values ('a')`);
  const row = await store.db.selectFrom('merchant_orders').selectAll().executeTakeFirstOrThrow();
  expect(ROW_COLUMNS.toSorted()).toEqual(Object.keys(row).toSorted());
});

describe('the order of a merchant', () => {
  const text = fc.string();
  const optional = fc.option(text);
  const order: fc.Arbitrary<MerchantOrder> = fc.record({
    externalOrderId: text,
    asset: text,
    assetPosition: fc.constantFrom('INPUT', 'OUTPUT'),
    fromCurrency: text,
    toCurrency: text,
    orderType: fc.constantFrom('DEPOSIT', 'WITHDRAW'),
    limit: optional,
    paymentToken: optional,
    providerType: optional,
    cryptoAddress: optional,
    bonus: optional,
  });

  it('comes back from its columns as it was', () => {
    fc.assert(
      fc.property(order, (one) => {
        expect(uncheckedOrderOf(columnsOf(one))).toEqual(one);
        expect(sentOrderOf(columnsOf(one))).toEqual(one);
      }),
    );
  });

  it('has null if a file lacks a column', () => {
    expect(uncheckedOrderOf({ asset: 5 })).toMatchObject({ asset: 5, externalOrderId: null, bonus: null });
  });

  it('has empty text if a row that was never sent lacks what each order has', () => {
    expect(sentOrderOf(NO_COLUMNS)).toEqual({
      externalOrderId: 'a',
      asset: '',
      assetPosition: '',
      fromCurrency: '',
      toCurrency: '',
      orderType: '',
      limit: null,
      paymentToken: null,
      providerType: null,
      cryptoAddress: null,
      bonus: null,
    });
  });
});

describe('the fields that a decision changes', () => {
  const before = trackingWith({ state: 'open', sentAt: new Date(1_000), orderStatus: 'NEW' });

  it('are the fields that differ, and the due time in any case', () => {
    const after = { ...before, revision: before.revision + 1, orderStatus: 'DONE', sentAt: new Date(1_000) };
    expect(changedFields(before, after)).toEqual(['revision', 'orderStatus', 'nextActionAt']);
    expect(changedFields(before, { ...before, sentAt: null })).toEqual(['nextActionAt', 'sentAt']);
    expect(changedFields(before, { ...before, sentAt: new Date(1_001) })).toEqual(['nextActionAt', 'sentAt']);
  });

  it('have each its column', () => {
    expect(trackedColumnsOf(before, ['orderStatus', 'state'])).toEqual({ state: 'open', order_status: 'NEW' });
  });
});

describe('what is tracked of an order', () => {
  const text = fc.option(fc.string());
  const count = fc.nat();
  const time = fc.option(fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('2100-01-01T00:00:00.000Z') }));
  const tracking: fc.Arbitrary<Tracking> = fc.record({
    account: fc.string(),
    externalOrderId: fc.string(),
    state: fc.constantFrom<OrderState[]>('pending', 'open', 'final'),
    stateReason: text,
    revision: count,
    preOrderId: text,
    exchangeType: text,
    orderId: text,
    orderStatus: text,
    cryptoStatus: text,
    fiatStatus: text,
    attempts: count,
    nextActionAt: time,
    lastLookupAt: time,
    sentAt: time,
    changedAt: time,
    modificationDate: text,
    staleDate: text,
    verifications: count,
    resends: count,
    rechecks: count,
    documentedAbsences: count,
    absentAt: time,
    adoptedAt: time,
    forbiddenIn: count,
    outcome: fc.constantFrom('succeeded', 'failed', null),
    oursDespite: text,
    failOver: fc.constantFrom(null, 7),
  });

  it('comes back from its columns as it was', () => {
    fc.assert(
      fc.property(tracking, (one) => {
        expect(trackingOf(rowOf(one))).toEqual(one);
      }),
    );
  });

  it.each(['x', 1.5, null, '7', 2 ** 60])('counts nothing if a row holds no number that can be: %o', (attempts) => {
    const row = { ...rowOf(trackingWith({ attempts: 3, resends: 2 })), attempts } as OrderRow;
    expect(trackingOf(row)).toMatchObject({ attempts: 0, resends: 2 });
  });

  it('has no time and no outcome if a row holds none that can be read', () => {
    const row = { ...rowOf(trackingWith()), sent_at: 'yesterday', outcome: 'odd' } as OrderRow;
    expect(trackingOf(row)).toMatchObject({ sentAt: null, outcome: null });
  });
});
