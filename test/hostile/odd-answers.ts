import fc from 'fast-check';
import { oddRetryAfter } from './odd-http.ts';
import { oddObject, oddPlace, oddText } from './odd.ts';

/** Stands in an answer for the id that was asked for. */
export const ASKED = 'asked-for-id';

/** Calls of the exchange, each with an answer as it is meant. */
export const MEANT = {
  create: {
    id: 'pre-1',
    asset: 1.5,
    assetPosition: 'INPUT',
    currencyPair: { fromCurrency: 'BTC', toCurrency: 'EUR' },
    externalOrderId: ASKED,
    orderType: 'DEPOSIT',
    exchangeType: 'SELL',
    limit: null,
    paymentToken: null,
    providerType: null,
    cryptoAddress: null,
    bonus: null,
  },
  lookup: {
    externalOrderId: ASKED,
    merchant: { id: 'merchant-1' },
    order: {
      id: 'order-1',
      number: 7,
      orderType: 'DEPOSIT',
      exchangeType: 'SELL',
      status: 'REQUEST',
      resultMessage: '',
      creationDate: '2040-01-01T00:00:02.000Z',
      modificationDate: '2040-01-01T00:00:02.000Z',
      completionDate: '2040-01-01T00:00:03.000Z',
      serverDate: '2040-01-01T00:00:04.000Z',
      exchangeOperation: {
        currencyPair: { fromCurrency: 'BTC', toCurrency: 'EUR' },
        inputAsset: 1.5,
        outputAsset: 45_000,
        ratio: 30_000,
      },
      cryptoTransaction: { currency: 'BTC', fee: 0.1, status: 'NEW', transactionHash: 'hash-1' },
      fiatTransaction: { currency: 'EUR', paymentToken: 'token-1', providerType: 'CARDPROV', status: 'NEW' },
    },
    percent: 0.5,
    percentEnabled: true,
    reward: 1,
  },
  showLink: { linkId: 'l1', status: 'NOT_VERIFIED' },
  validateEmail: { status: 'OK' },
  createLink: { linkId: 'l1', status: 'NOT_VERIFIED' },
  verificationToken: { token: 'sbx:token', expiresAt: '2040-01-01T00:00:02.000Z' },
  requestPhotos: { status: 'ok' },
  showCustomer: { id: 'c1', email: 'a@b.example', firstName: 'A', lastName: 'B' },
  listCards: [{ id: 'card-1', token: 't', maskedPan: '411111******1111', expiryMonth: 1, expiryYear: 2041 }],
  sdkToken: { token: 'sdk', expiresAt: '2040-01-01T00:00:02.000Z' },
  showPreOrder: { id: 'pre-1', externalOrderId: 'x', asset: 1.5 },
  lookUpOrder: { externalOrderId: 'x', order: { id: 'order-1', status: 'REQUEST' } },
} as const;

/** The name of a call. */
export type Call = keyof typeof MEANT;

/** An answer of the exchange to one call. */
export interface OddAnswer {
  readonly call: Call;
  readonly status: number;
  readonly retryAfter?: string;
  readonly body: string;
}

const ERROR = { message: 'order not found', code: '404', status: 'NOT_FOUND' };
const STATUSES = [
  199, 204, 206, 299, 300, 301, 304, 307, 400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 413, 414, 418, 422, 425,
  429, 431, 451, 500, 501, 502, 503, 504, 511, 520, 599, 600, 999,
];

const status = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(200, 201) },
  { weight: 5, arbitrary: fc.constantFrom(...STATUSES) },
);

function bodyOf(call: Call): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 8, arbitrary: oddObject(MEANT[call]) },
    { weight: 3, arbitrary: oddObject(ERROR) },
    { weight: 1, arbitrary: oddText },
    { weight: 1, arbitrary: oddPlace('<html><body>502</body></html>') },
    { weight: 1, arbitrary: fc.constantFrom('', ' ', 'null', '[]', '{}', `{"a":"${'x'.repeat(900_000)}"}`) },
  );
}

/** Answers to any call, half of them to creates and look-ups of orders. */
export const oddAnswer: fc.Arbitrary<OddAnswer> = fc
  .oneof(
    { weight: 1, arbitrary: fc.constantFrom<Call>('create', 'lookup', 'lookup') },
    { weight: 1, arbitrary: fc.constantFrom(...(Object.keys(MEANT) as Call[])) },
  )
  .chain((call) =>
    fc.record(
      { call: fc.constant(call), status, body: bodyOf(call), retryAfter: oddRetryAfter },
      { requiredKeys: ['call', 'status', 'body'] },
    ),
  );
