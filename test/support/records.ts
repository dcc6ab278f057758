import type { MerchantOrder, RecordView } from '../../src/orders/rules/record.ts';
import type { RecordContext } from '../../src/findings/rules/finding.ts';

/** When everything of the order happened; the clocks agree. */
export const SENT = '2026-01-05T10:00:00.000Z';
export const CREATED = '2026-01-05T10:00:02.000Z';
export const MODIFIED = '2026-01-05T10:05:00.000Z';
export const RECEIVED = '2026-01-05T10:06:00.000Z';

/** An order with every field given, with these differences. */
export function orderWith(changes: Partial<MerchantOrder> = {}): MerchantOrder {
  return {
    externalOrderId: 'a',
    asset: '1.5',
    assetPosition: 'INPUT',
    fromCurrency: 'BTC',
    toCurrency: 'EUR',
    orderType: 'DEPOSIT',
    limit: '2',
    paymentToken: 'token-1',
    providerType: 'CARDPROV',
    cryptoAddress: 'address-1',
    bonus: '0.5',
    ...changes,
  };
}

/** The record of that order, open and in agreement with it, with these differences. */
export function recordWith(changes: Partial<RecordView> = {}): RecordView {
  return {
    externalOrderId: 'a',
    merchantId: 'm-1',
    orderId: 'o-1',
    orderNumber: '17',
    orderType: 'DEPOSIT',
    exchangeType: 'SELL',
    orderStatus: 'REQUEST',
    cryptoStatus: 'PENDING',
    fiatStatus: 'PENDING',
    creationDate: CREATED,
    modificationDate: MODIFIED,
    completionDate: null,
    serverDate: RECEIVED,
    fromCurrency: 'BTC',
    toCurrency: 'EUR',
    inputAsset: '1.5',
    outputAsset: '45000',
    ratio: '30000',
    cryptoCurrency: 'BTC',
    fiatCurrency: 'EUR',
    externalCryptoAddress: 'address-1',
    internalCryptoAddress: 'inside-1',
    transactionHash: 'hash-1',
    fee: '0.1',
    paymentToken: 'token-1',
    providerType: 'CARDPROV',
    percent: '1',
    percentEnabled: 'true',
    reward: '3',
    ...changes,
  };
}

/** That record held against that order, and the same record before it, with these differences. */
export function contextWith(
  changes: Partial<Omit<RecordContext, 'record' | 'earlier' | 'order'>> & {
    readonly record?: Partial<RecordView>;
    readonly earlier?: Partial<RecordView> | null;
    readonly order?: Partial<MerchantOrder>;
  } = {},
): RecordContext {
  return {
    stateBefore: 'open',
    state: 'open',
    preOrderExchangeType: 'SELL',
    receivedAt: new Date(RECEIVED),
    firstSentAt: new Date(SENT),
    merchantId: 'm-1',
    hashUsedBy: null,
    orderUsedBy: null,
    isExpected: true,
    ...changes,
    order: orderWith(changes.order),
    record: recordWith(changes.record),
    earlier: changes.earlier === null ? null : recordWith(changes.earlier),
  };
}
