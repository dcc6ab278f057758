import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readExchangeType, readRecordView } from '../../src/exchange/record-view.ts';

const HUGE = '1234567890123456789012345678901234567890.12345678901234567890';
const TORN = '\\"inputAsset\\":7,\\"fee\\": 1';

/** A record as it stands on the wire: numbers are written as they are given. */
function body({ asset = '1.5', message = 'fine', more = '' } = {}): string {
  return `{"externalOrderId":"a","merchant":{"id":"m-1"},"percent":1.50,"percentEnabled":false,"reward": 0,${more}
    "order":{"id":"o-1","number":17,"status":"REQUEST","resultMessage":"${message}","serverDate":"2026-01-05T10:00:00Z",
    "exchangeOperation":{"currencyPair":{"fromCurrency":"BTC","toCurrency":"EUR"},"inputAsset":${asset},"ratio":-1e-7},
    "cryptoTransaction":{"fee":0.000,"status":"NEW"},"fiatTransaction":null}}`;
}

describe('the compared fields of a record', () => {
  it('keep every digit as it was written', () => {
    expect(readRecordView(body({ asset: HUGE }))).toMatchObject({
      inputAsset: HUGE,
      ratio: '-1e-7',
      fee: '0.000',
      percent: '1.50',
      reward: '0',
      orderNumber: '17',
      percentEnabled: 'false',
      fromCurrency: 'BTC',
      fiatStatus: null,
      completionDate: null,
    });
  });

  it('have texts that a database stores as they are', () => {
    const text =
      '{"externalOrderId":"a","order":{"id":"\\ud800","status":"\\udc00x","fiatTransaction":{"status":"\\ud800"}}}';
    expect(readRecordView(text)).toMatchObject({ orderId: '\ufffd', orderStatus: '\ufffdx', fiatStatus: '\ufffd' });
  });

  it('have no NUL, which a database may refuse', () => {
    const text = '{"externalOrderId":"a","order":{"id":"\\u0000x\\\\\\u0000","status":"\\\\u0000"}}';
    expect(readRecordView(text)).toMatchObject({ orderId: '\u2400x\\\u2400', orderStatus: '\\u0000' });
  });

  it('are read past text that looks like a field', () => {
    expect(readRecordView(body({ asset: HUGE, message: TORN }))).toEqual(readRecordView(body({ asset: HUGE })));
  });

  it.each([
    ['an amount that is text', body({ asset: '"1.5"' })],
    ['an amount that is a list', body({ asset: '[1.5]' })],
    ['an amount that is null', body({ asset: 'null' })],
  ])('are given without %s', (_name, text) => {
    expect(readRecordView(text)).toMatchObject({ inputAsset: null, fromCurrency: 'BTC', orderStatus: 'REQUEST' });
  });

  it.each([
    ['in an object', '{"digits":"1.5"}'],
    ['escaped', '{"d\\u0069gits":"1.5"}'],
    ['as a number of a number', '{"digits":1.5}'],
    ['as no number', '1.2.3'],
    ['with more digits than any amount has', '1e999'],
  ])('have no amount that is forged: %s', (_name, asset) => {
    for (const message of ['fine', TORN]) {
      expect(readRecordView(body({ asset, message }))?.inputAsset ?? null).toBeNull();
    }
  });

  it('are the last of a name that is given twice', () => {
    expect(readRecordView(body({ more: '"reward": 7, "reward": 8,' }))).toMatchObject({ reward: '8', orderId: 'o-1' });
  });

  it('are not given if the exchange sends empty text, but for statuses', () => {
    const leg = { status: '', currency: '', transactionHash: '', paymentToken: '', providerType: '' };
    const text = JSON.stringify({
      externalOrderId: 'a',
      merchant: { id: '' },
      order: {
        id: 'o-1',
        status: '',
        orderType: '',
        exchangeType: '',
        exchangeOperation: { currencyPair: { fromCurrency: '', toCurrency: '' } },
        cryptoTransaction: { ...leg, externalCryptoAddress: '', internalCryptoAddress: '' },
        fiatTransaction: leg,
      },
    });
    const given = Object.entries(readRecordView(text) ?? {}).filter(([, value]) => value !== null);
    expect(Object.fromEntries(given)).toEqual({
      externalOrderId: 'a',
      orderId: 'o-1',
      orderStatus: '',
      cryptoStatus: '',
      fiatStatus: '',
    });
    expect(readExchangeType('{"exchangeType":""}')).toBeNull();
  });

  it.each([
    ['a number in place of an operation', { exchangeOperation: 5 }],
    ['no transactions', { cryptoTransaction: undefined, fiatTransaction: undefined }],
    ['a list in place of a currency pair', { exchangeOperation: { currencyPair: [1, 2] } }],
    ['a number in place of a date', { creationDate: 5 }],
  ])('are given as far as they can be: %s', (_name, order) => {
    const text = JSON.stringify({ externalOrderId: 'a', order: { id: 'o-1', status: 'REQUEST', ...order } });
    expect(readRecordView(text)).toMatchObject({ orderId: 'o-1', inputAsset: null, cryptoCurrency: null });
  });

  it.each([
    ['a list in place of a transaction', { cryptoTransaction: [1, 2] }],
    ['a number in place of a transaction', { cryptoTransaction: 0 }],
    ['a number in place of the other', { fiatTransaction: 5 }],
    ['an object in place of the date that orders records', { modificationDate: {} }],
    ['a list in place of a status', { fiatTransaction: { status: [] } }],
    ['a status longer than any', { status: 'S'.repeat(1_001) }],
  ])('are none if one that decides cannot be read: %s', (_name, order) => {
    const text = JSON.stringify({ externalOrderId: 'a', order: { id: 'o-1', status: 'REQUEST', ...order } });
    expect(readRecordView(text)).toBeUndefined();
  });

  it('are none if the record is nested deeper than any', () => {
    expect(readRecordView(body({ more: `"deep":${'['.repeat(10_000)}${']'.repeat(10_000)},` }))).toBeUndefined();
  });

  it.each(['007', '1.2.3', '1.', '.5', '5-3', '1e', '+1', '1_000', '0x10', '-'])(
    'are none if a number is not one of JSON: %s',
    (asset) => {
      for (const message of ['fine', TORN]) expect(readRecordView(body({ asset, message }))).toBeUndefined();
    },
  );

  it('are none if a body of the largest size is no JSON, without a wait', () => {
    expect(readRecordView(`{"a":"${'\\"'.repeat(500_000)}`)).toBeUndefined();
  });

  it.each(['', 'null', '[]', '5', '{', '{"order":[]}', '{"externalOrderId":"a","order":{"id":true,"status":"X"}}'])(
    'are none if there is no record: %s',
    (text) => {
      expect(readRecordView(text)).toBeUndefined();
    },
  );

  it('are read of any JSON without an error', () => {
    fc.assert(
      fc.property(fc.json(), fc.string(), (order, message) => {
        readRecordView(`{"externalOrderId":"a","order":${order}}`);
        const quoted = JSON.stringify(message).slice(1, -1);
        expect(readRecordView(body({ asset: HUGE, message: quoted }))).toMatchObject({ inputAsset: HUGE });
      }),
    );
  });
});

describe('the exchange type of a pre-order', () => {
  it.each([
    ['{"id":"p","exchangeType":"SELL","asset":1}', 'SELL'],
    ['{"id":"p"}', null],
    ['{"exchangeType":5}', null],
    ['not JSON', null],
  ])('%s', (text, type) => {
    expect(readExchangeType(text)).toBe(type);
  });
});
