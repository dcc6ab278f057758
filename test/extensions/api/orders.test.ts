import { describe, expect, it } from 'vitest';
import { controlSocket, failureIn } from '../../support/control-socket.ts';
import { unguarded } from '../../support/unguarded.ts';

const DIGITS = '12345678901234567.123456789';
const NOTHING = { reason: null, httpStatus: null, code: null, status: null };

describe('POST /orders', () => {
  const ORDER = { external_order_id: 'shop-1', asset: '1.50', from_currency: 'BTC', to_currency: 'EUR' };

  it.each([
    ['a number', DIGITS, DIGITS],
    ['text', `"${DIGITS}"`, DIGITS],
    ['a number as small as it may be', '0.000000012345678901', '0.000000012345678901'],
  ])('puts an order in, its amount given as %s, with every digit', async (_name, written, stored) => {
    const on = await controlSocket();
    const body = `{"external_order_id":"shop-1","asset":${written},"from_currency":"BTC","to_currency":"EUR","order_limit":${written}}`;
    const { status, text } = await on.ask('POST', '/orders', body);
    expect([status, text]).toEqual([201, '{"ok":true,"value":{"external_order_id":"shop-1","state":"pending"}}']);
    expect(on.program.row('shop-1')).toMatchObject({
      asset: stored,
      order_limit: stored,
      state: 'pending',
      asset_position: 'INPUT',
      order_type: 'DEPOSIT',
      bonus: null,
    });
    expect(on.wakes()).toBe(1);
  });

  it('puts every column of the merchant in', async () => {
    const on = await controlSocket();
    const order = {
      ...ORDER,
      asset: '1.50',
      asset_position: 'OUTPUT',
      order_type: 'WITHDRAW',
      order_limit: '0.10',
      payment_token: 'p',
      provider_type: 'CARDPROV',
      crypto_address: 'a',
      bonus: '0.01',
    };
    expect((await on.ask('POST', '/orders', order)).status).toBe(201);
    expect(on.program.row('shop-1')).toMatchObject(order);
  });

  it.each([['"1e5"'], ['1e5'], ['1E+5']])('writes out an amount with an exponent: %s', async (asset) => {
    const on = await controlSocket();
    const body = JSON.stringify(ORDER).replace('"1.50"', asset);
    expect((await on.ask('POST', '/orders', body)).status).toBe(201);
    expect(on.program.row('shop-1')).toMatchObject({ asset: '100000' });
  });

  it('takes the same order again with 200, in whatever state it is, and wakes nothing for it', async () => {
    const on = await controlSocket();
    expect((await on.ask('POST', '/orders', ORDER)).status).toBe(201);
    for (const asset of ['"1.50"', '1.5', '"1.5"', '1.500', '15E-1', `1.5${'0'.repeat(60)}`]) {
      const body = JSON.stringify(ORDER).replace('"1.50"', asset);
      const { status, text } = await on.ask('POST', '/orders', body);
      expect([asset, status, text]).toEqual([asset, 200, expect.stringContaining('"state":"pending"')]);
    }
    unguarded(on.program.merchant, () =>
      on.program.merchant.exec(`update merchant_orders set revision = revision + 1, state = 'cancelled'`),
    );
    expect((await on.ask('POST', '/orders', ORDER)).text).toContain('"state":"cancelled"');
    expect(on.wakes()).toBe(1);
  });

  it.each([
    [{ asset: '1.51' }, 'another asset'],
    [{ to_currency: 'USD', bonus: '0.1' }, 'another to_currency, bonus'],
  ])('refuses other content under a known id with 409: %j', async (changes, said) => {
    const on = await controlSocket();
    await on.ask('POST', '/orders', ORDER);
    const before = on.program.row('shop-1');
    const answer = await on.ask('POST', '/orders', { ...ORDER, ...changes });
    const message = `"shop-1" is in the table with ${said}`;
    expect([answer.status, failureIn(answer)]).toEqual([
      409,
      { ...NOTHING, kind: 'invalid', reason: 'conflict', message },
    ]);
    expect(on.program.row('shop-1')).toEqual(before);
    expect(on.wakes()).toBe(1);
  });

  it('puts an order in once that is handed in many times at the same moment', async () => {
    const on = await controlSocket();
    const same = await Promise.all(Array.from({ length: 9 }, () => on.ask('POST', '/orders', ORDER)));
    expect(same.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([...Array<number>(8).fill(200), 201]);
    const amounts = Array.from({ length: 9 }, (_, index) => `${index + 1}`);
    const other = await Promise.all(
      amounts.map((asset) => on.ask('POST', '/orders', { ...ORDER, external_order_id: 'shop-2', asset })),
    );
    expect(other.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, ...Array<number>(8).fill(409)]);
    expect(on.wakes()).toBe(2);
  });

  it.each([
    [{ asset: '0' }, /^asset /],
    [{ asset: '-1' }, /^asset /],
    [{ asset: 'a lot' }, /^asset /],
    [{ asset: '' }, /^asset /],
    [{ asset: null }, /^body\/asset/],
    [{ asset: true }, /^body\/asset/],
    [{ asset: undefined }, /^body\/asset/],
    [{ external_order_id: '' }, /^external_order_id /],
    [{ external_order_id: 1 }, /^body\/external_order_id/],
    [{ from_currency: undefined }, /^body\/from_currency/],
    [{ bonus: 'x' }, /^bonus /],
    [{ external_order_id: 'a ' }, /^external_order_id begins or ends with a blank/],
    [{ external_order_id: 'a\0' }, /^external_order_id contains a control character/],
    [{ state: 'final' }, /state/],
    [{ account: 'other' }, /account/],
  ])('refuses what is no order with 400, and says what is wrong: %j', async (changes, message) => {
    const on = await controlSocket();
    const answer = await on.ask('POST', '/orders', { ...ORDER, ...changes });
    expect([answer.status, failureIn(answer)]).toMatchObject([400, { ...NOTHING, kind: 'invalid' }]);
    expect(failureIn(answer).message).toMatch(message);
    expect(on.program.merchant.prepare('select count(*) from merchant_orders').pluck().get()).toBe(0);
    expect(on.wakes()).toBe(0);
  });
});
