import Big from 'big.js';
import { LosslessNumber } from 'lossless-json';
import type { Scenario } from './scenario.ts';

export interface SandboxPreOrder {
  readonly id: string;
  readonly number: number;
  readonly createdAt: Date;
  readonly externalOrderId: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly asset: string;
  readonly scenario: Scenario;
  readonly speed: number;
  readonly merchantId: string;
}

export type OrderRecord = NonNullable<ReturnType<typeof orderRecord>>;

export function orderRecord(preOrder: SandboxPreOrder, now: Date) {
  const { appearsAfterMs } = preOrder.scenario;
  if (appearsAfterMs === null) return undefined;
  const appearedAt = preOrder.createdAt.getTime() + appearsAfterMs / preOrder.speed;
  if (now.getTime() < appearedAt) return undefined;
  const progress = progressAt(preOrder, appearedAt, now.getTime());
  const { currencyPair, orderType, exchangeType } = preOrder.fields;
  const { output, ratio, fee, reward } = termsOf(currencyPair as Pair, preOrder.asset);
  const inputAsset = new LosslessNumber(preOrder.asset);
  // A field that has no value yet is left out, because §2.7 marks no field as nullable.
  return {
    externalOrderId: preOrder.externalOrderId,
    merchant: { id: preOrder.merchantId },
    order: {
      id: `order-${preOrder.number}`,
      number: preOrder.number,
      orderType,
      exchangeType,
      status: progress.order,
      resultMessage: progress.order === 'REJECTED' ? 'rejected' : '',
      submitByResident: false,
      creationDate: new Date(appearedAt).toISOString(),
      modificationDate: new Date(progress.modifiedAt).toISOString(),
      ...(progress.completedAt !== null && { completionDate: new Date(progress.completedAt).toISOString() }),
      serverDate: now.toISOString(),
      exchangeOperation: { currencyPair, inputAsset, outputAsset: exact(output), ratio: exact(ratio) },
      ...transactions(preOrder, progress, fee),
    },
    percent: new LosslessNumber(REWARD_PERCENT),
    percentEnabled: true,
    reward: exact(reward),
  };
}

function transactions({ number, fields }: SandboxPreOrder, progress: ReturnType<typeof progressAt>, fee: Big) {
  const { currencyPair, exchangeType, cryptoAddress, paymentToken, providerType } = fields;
  const { fromCurrency, toCurrency } = currencyPair as Pair;
  const [crypto, fiat] = exchangeType === 'BUY' ? [toCurrency, fromCurrency] : [fromCurrency, toCurrency];
  return {
    cryptoTransaction: {
      currency: crypto,
      externalCryptoAddress: cryptoAddress ?? `sandbox-client-address-${number}`,
      internalCryptoAddress: `sandbox-address-${number}`,
      fee: exact(fee),
      feePaymentEnabledByClient: true,
      status: progress.crypto,
      ...(progress.crypto === 'CONFIRMED' && { transactionHash: `sandbox-hash-${number}` }),
    },
    fiatTransaction: {
      currency: fiat,
      internalToken: `sandbox-token-${number}`,
      link: `https://sandbox.example/pay/${number}`,
      orderIdentity: `sandbox-payment-${number}`,
      paymentToken: paymentToken ?? `sandbox-card-${number}`,
      paymentType: 'P2P',
      processingBank: 'SANDBOX',
      providerType: providerType ?? 'CARDPROV',
      resultMessage: '',
      status: progress.fiat,
    },
  };
}

export function olderRecord(preOrder: SandboxPreOrder, { order }: OrderRecord) {
  const before = new Date(Date.parse(order.modificationDate) - 1);
  const older = orderRecord(preOrder, before) ?? orderRecord(preOrder, new Date(order.serverDate));
  return { ...older, order: { ...older?.order, serverDate: order.serverDate } };
}

function progressAt({ scenario, speed }: SandboxPreOrder, appearedAt: number, now: number) {
  const statuses = { order: 'REQUEST', crypto: 'NEW', fiat: 'NEW' };
  const progress = { ...statuses, modifiedAt: appearedAt, completedAt: null as number | null };
  let at = appearedAt;
  for (const step of scenario.steps) {
    at += step.afterMs / speed;
    if (at > now) break;
    for (const name of ['order', 'crypto', 'fiat'] as const) progress[name] = step[name] ?? progress[name];
    progress.modifiedAt = at;
    if (step.completed !== undefined) progress.completedAt = step.completed ? at : null;
  }
  return progress;
}

export type Pair = Readonly<{ fromCurrency: string; toCurrency: string }>;

const FIAT = ['EUR', 'USD', 'GBP', 'CHF', 'PLN', 'CZK'];
/** Invented values of one unit in EUR. A currency that is not listed is worth 1 EUR. */
const WORTH = new Map(Object.entries({ BTC: '61234.56', ETH: '2345.678', USDT: '0.92', USD: '0.92', GBP: '1.17' }));
const RATIO_DIGITS = 8;
const FEE = '0.001';
/** Percent of the input amount. */
const REWARD_PERCENT = '0.5';

export function exchangeTypeOf({ fromCurrency, toCurrency }: Pair): 'BUY' | 'SELL' {
  return FIAT.includes(fromCurrency) && !FIAT.includes(toCurrency) ? 'BUY' : 'SELL';
}

export function termsOf(pair: Pair, asset: string) {
  const worth = (currency: string) => new Big(WORTH.get(currency) ?? 1);
  const ratio = worth(pair.fromCurrency).div(worth(pair.toCurrency)).round(RATIO_DIGITS);
  const output = new Big(asset).times(ratio);
  const crypto = exchangeTypeOf(pair) === 'BUY' ? output : new Big(asset);
  return { ratio, output, crypto, fee: crypto.times(FEE), reward: new Big(asset).times(REWARD_PERCENT).div(100) };
}

function exact(amount: Big): LosslessNumber {
  return new LosslessNumber(amount.toFixed());
}
