import { describe, expect, it } from 'vitest';
import { checkOrder, describeProblems, MAX_ID_BYTES_ENCODED } from '../../../src/orders/rules/check.ts';
import type { UncheckedOrder } from '../../../src/orders/rules/record.ts';

const GOOD: UncheckedOrder = {
  externalOrderId: 'shop-1',
  asset: '1.5',
  assetPosition: 'INPUT',
  fromCurrency: 'BTC',
  toCurrency: 'EUR',
  orderType: 'DEPOSIT',
  limit: null,
  paymentToken: null,
  providerType: null,
  cryptoAddress: null,
  bonus: null,
};

function problems(changes: Partial<UncheckedOrder>): string | undefined {
  const checked = checkOrder({ ...GOOD, ...changes });
  return checked.ok ? undefined : describeProblems(checked.problems);
}

describe('an order that is sent exactly as it was written', () => {
  it.each<[string, Partial<UncheckedOrder>]>([
    ['the plain one', {}],
    ['64 digits', { asset: '1'.repeat(64) }],
    ['zeros at the end', { asset: '1.5000' }],
    ['the least amount', { asset: `0.${'0'.repeat(62)}1` }],
    ['an id with spaces in it', { externalOrderId: 'a  b' }],
    ['an id with quotes', { externalOrderId: `'"\`;--` }],
    ['an id in other letters', { externalOrderId: 'заказ-①-🙂' }],
    ['an id as long as may be', { externalOrderId: 'x'.repeat(MAX_ID_BYTES_ENCODED) }],
    ['values that the document does not show', { assetPosition: 'OUTPUT', orderType: 'SOMETHING', providerType: 'X' }],
    ['currencies in small letters', { fromCurrency: 'btc', toCurrency: 'eur' }],
    ['a negative limit, of which the document says nothing', { limit: '-1' }],
    ['a bonus below the amount', { bonus: '1.49999999999999999999' }],
    ['a bonus of zero', { bonus: '0' }],
    ['a text of 1,000 characters', { paymentToken: 'x'.repeat(1_000) }],
    ['a bonus equal to the amount, which may not be crypto', { bonus: '1.5' }],
    ['a bonus above the amount, which may not be crypto', { fromCurrency: 'EUR', toCurrency: 'USDT', bonus: '9' }],
  ])('%s', (_name, changes) => {
    expect(checkOrder({ ...GOOD, ...changes })).toEqual({ ok: true, order: { ...GOOD, ...changes } });
  });

  it('whose amount SQLite wrote with an exponent is written out', () => {
    expect(checkOrder({ ...GOOD, asset: '1.5e-7', limit: '1.0e+20' })).toMatchObject({
      ok: true,
      order: { asset: '0.00000015', limit: '100000000000000000000' },
    });
  });

  it('takes what is left out for what is null', () => {
    const { limit: _limit, bonus: _bonus, ...without } = GOOD;
    expect(checkOrder({ ...without, limit: undefined, bonus: undefined })).toEqual({ ok: true, order: GOOD });
  });

  it('keeps ids that differ only by case different', () => {
    const ids = ['a', 'A'].map((externalOrderId) => checkOrder({ ...GOOD, externalOrderId }));
    expect(ids.map((checked) => (checked.ok ? checked.order.externalOrderId : ''))).toEqual(['a', 'A']);
  });
});

describe('an order that is refused', () => {
  it.each<[string, Partial<UncheckedOrder>, string]>([
    ['zero', { asset: '0' }, 'asset must be positive, is "0"'],
    ['zero with digits', { asset: '0.000' }, 'asset must be positive, is "0.000"'],
    ['zero with a sign', { asset: '-0' }, 'asset must be positive, is "-0"'],
    ['zero with an exponent', { asset: '0e5' }, 'asset must be positive, is "0"'],
    ['negative', { asset: '-1' }, 'asset must be positive, is "-1"'],
    ['words', { asset: 'one' }, 'asset is not a decimal number: "one"'],
    ['NaN', { asset: 'NaN' }, 'asset is not a decimal number: "NaN"'],
    ['Infinity', { asset: 'Infinity' }, 'asset is not a decimal number: "Infinity"'],
    ['empty', { asset: '' }, 'asset is not a decimal number: ""'],
    ['a newline behind it', { asset: '1\n' }, String.raw`asset is not a decimal number: "1\n"`],
    ['a decimal comma', { asset: '1,5' }, 'asset is not a decimal number: "1,5"'],
    ['1e400', { asset: '1e400' }, 'asset has more than 64 digits when it is written out: "1e400"'],
    [
      '65 digits',
      { asset: '1'.repeat(65) },
      `asset has more than 64 digits when it is written out: "${'1'.repeat(60)}…"`,
    ],
    ['no amount', { asset: null }, 'asset is missing'],
    ['bytes', { asset: new Uint8Array([49]) }, 'asset is not a decimal number'],
    ['a binary number', { asset: 1.5 }, 'asset is not a decimal number'],
    ['an empty currency', { fromCurrency: '' }, 'from_currency is empty'],
    ['a currency of spaces', { toCurrency: '  ' }, 'to_currency is empty'],
    ['no currency', { toCurrency: null }, 'to_currency is missing'],
    ['a currency that is a number', { fromCurrency: 5 }, 'from_currency is not text'],
    ['a currency of 1,001 characters', { toCurrency: 'x'.repeat(1_001) }, 'to_currency is longer than 1000 characters'],
    ['half a character', { fromCurrency: '\uD800' }, 'from_currency is not valid Unicode text'],
    ['bytes that were no text', { toCurrency: 'E\uFFFDR' }, 'to_currency is not valid Unicode text'],
    ['an empty position', { assetPosition: '' }, 'asset_position is empty'],
    ['no order type', { orderType: undefined }, 'order_type is missing'],
    ['an empty token', { paymentToken: '' }, 'payment_token is empty'],
    ['an address that is bytes', { cryptoAddress: new Uint8Array(2) }, 'crypto_address is not text'],
    ['a limit in words', { limit: 'much' }, 'order_limit is not a decimal number: "much"'],
    ['an empty limit', { limit: '' }, 'order_limit is not a decimal number: ""'],
    ['a currency with a blank behind it', { fromCurrency: 'btc ' }, 'from_currency begins or ends with a blank'],
    ['a currency with a wide blank', { toCurrency: '\u00a0EUR' }, 'to_currency begins or ends with a blank'],
    ['a pair of one currency', { toCurrency: 'BTC' }, 'to_currency must differ from from_currency, is "BTC"'],
    [
      'a pair of one currency in other letters',
      { toCurrency: 'btc' },
      'to_currency must differ from from_currency, is "btc"',
    ],
    [
      'a pair of one currency, besides',
      { asset: 'abc', toCurrency: 'BTC' },
      'asset is not a decimal number: "abc"; to_currency must differ from from_currency, is "BTC"',
    ],
    ['a negative bonus', { bonus: '-1' }, 'bonus must not be negative, is "-1"'],
    ['an empty id', { externalOrderId: '' }, 'external_order_id is empty'],
    ['an id with a space before it', { externalOrderId: ' a' }, 'external_order_id begins or ends with a blank'],
    [
      'an id with a wide blank behind it',
      { externalOrderId: 'a\u00a0' },
      'external_order_id begins or ends with a blank',
    ],
    ['an id of one space', { externalOrderId: ' ' }, 'external_order_id begins or ends with a blank'],
    ['an id that ends its line', { externalOrderId: 'a\n' }, 'external_order_id begins or ends with a blank'],
    ['an id of two lines', { externalOrderId: 'a\r\nb' }, 'external_order_id contains a control character'],
    ['an id with a zero byte', { externalOrderId: 'a\0b' }, 'external_order_id contains a control character'],
    ['an id that moves the cursor', { externalOrderId: 'a\u009bH' }, 'external_order_id contains a control character'],
    ['no id', { externalOrderId: null }, 'external_order_id is missing or not text'],
    ['an id that is half a character', { externalOrderId: 'a\uDC00' }, 'external_order_id is not valid Unicode text'],
    ['an id that is not text any more', { externalOrderId: 'a\uFFFD' }, 'external_order_id is not valid Unicode text'],
  ])('%s', (_name, changes, reason) => {
    expect(problems(changes)).toBe(reason);
  });

  it.each([
    ['10,000 characters', 'x'.repeat(10_000)],
    ['one character too many', 'x'.repeat(MAX_ID_BYTES_ENCODED + 1)],
    ['too many once it is in a URL', 'é'.repeat(MAX_ID_BYTES_ENCODED / 6 + 1)],
  ])('an id of %s', (_name, externalOrderId) => {
    expect(problems({ externalOrderId })).toMatch(/^external_order_id is too long to be looked up/);
  });

  it('takes what a row lacks for not asked', () => {
    const fields = ['limit', 'paymentToken', 'providerType', 'cryptoAddress', 'bonus'] as const;
    for (const field of fields) expect(checkOrder({ ...GOOD, [field]: undefined })).toEqual({ ok: true, order: GOOD });
    expect([null, undefined].map((asset) => problems({ asset }))).toEqual(['asset is missing', 'asset is missing']);
  });

  it('names everything that is wrong at once', () => {
    expect(problems({ asset: '0', fromCurrency: '', limit: 'x' })).toBe(
      'asset must be positive, is "0"; from_currency is empty; order_limit is not a decimal number: "x"',
    );
  });
});
