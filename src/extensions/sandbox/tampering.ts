import Big from 'big.js';
import { LosslessNumber } from 'lossless-json';
import type { FindingClassName } from '../../findings/rules/classes.ts';
import { valueAfter } from './random.ts';

export type Fields = Readonly<Record<string, unknown>>;

export interface Tampering {
  readonly what: string;
  /** The only class of findings that the tampering causes. */
  readonly finding: FindingClassName;
  /** The row gets the finding only if this column is not null. */
  readonly needs?: 'crypto_address' | 'payment_token' | 'provider_type';
  readonly echo?: (preOrder: Fields) => Fields;
  readonly isPreOrderDenied?: boolean;
  readonly isStray?: boolean;
  /** Returns the changed order record (§2.7), or undefined if the sandbox must not find the order. */
  readonly record?: (record: Fields, moment: TamperedMoment) => Fields | undefined;
}

/** `wasCompleted`: an earlier answer showed the order completed. The other fields are of an untampered order. */
type TamperedMoment = Readonly<{ wasCompleted: boolean; otherHash: string | null; otherOrderId: string | null }>;

export const STRAY_ORDER = {
  asset: '1.5',
  orderType: 'DEPOSIT',
  currencyPair: { fromCurrency: 'BTC', toCurrency: 'EUR' },
} as const;

const DAY_MS = 24 * 60 * 60_000;
const HOUR_MS = 60 * 60_000;
/** Only a comparison of every digit finds this difference. */
const LAST_DIGIT = '0.000000000000000001';
/** Short names of parts of an order record, for the beginning of a path. */
const PARTS: Readonly<Record<string, string>> = {
  operation: 'order.exchangeOperation',
  crypto: 'order.cryptoTransaction',
  fiat: 'order.fiatTransaction',
};
const swap = (usual: string, other: string) => (value: unknown) => (value === usual ? other : usual);
const [otherCrypto, otherMoney, otherType] = [swap('BTC', 'ETH'), swap('EUR', 'USD'), swap('BUY', 'SELL')];
const DATES = ['creationDate', 'modificationDate', 'completionDate', 'serverDate'];

/**
 * The ways to tamper with an order whose external order id is `tamper-<name>-…`. Five classes are missing. A fault
 * causes CREATE_UNKNOWN, a fail-over FAIL_OVER, a scenario ORDER_MISSING and STUCK. PREORDER_REUSED needs two orders.
 */
export const TAMPERINGS = {
  echo: {
    what: 'the create answers with another amount',
    finding: 'PREORDER_ECHO_MISMATCH',
    echo: change('asset', more),
  },
  'echo-token': {
    what: 'the create answers with another payment token',
    finding: 'PREORDER_TOKEN_MISMATCH',
    echo: set('paymentToken', 'another-token'),
    needs: 'payment_token',
  },
  'pre-order': { what: 'the pre-order is not known any more', finding: 'PREORDER_MISSING', isPreOrderDenied: true },
  stray: {
    what: 'an order of 1.5 BTC for EUR although nothing was sent',
    finding: 'UNEXPECTED_ORDER',
    isStray: true,
    record: all(set('crypto.externalCryptoAddress', undefined), set('fiat.paymentToken', undefined)),
  },
  amount: always(
    'AMOUNT_MISMATCH',
    'amounts off by the last digit',
    all(change('operation.inputAsset', more), atTheRatio),
  ),
  'no-amount': always('UNCHECKED', 'no input amount', set('operation.inputAsset', null)),
  from: always('PAIR_MISMATCH', 'another currency given', change('operation.currencyPair.fromCurrency', otherCrypto)),
  to: always('PAIR_MISMATCH', 'another currency wanted', change('operation.currencyPair.toCurrency', otherMoney)),
  output: always('RATE_INCONSISTENT', 'another output amount', change('operation.outputAsset', more)),
  ratio: always('RATE_INCONSISTENT', 'another ratio', change('operation.ratio', more)),
  'order-type': always('TYPE_MISMATCH', 'another order type', set('order.orderType', 'WITHDRAWAL')),
  'exchange-type': always('TYPE_MISMATCH', 'another exchange type', change('order.exchangeType', otherType)),
  'crypto-currency': always('LEG_CURRENCY_MISMATCH', 'other crypto paid', change('crypto.currency', otherCrypto)),
  'fiat-currency': always('LEG_CURRENCY_MISMATCH', 'other money paid', change('fiat.currency', otherMoney)),
  address: {
    ...always('ADDRESS_MISMATCH', "not the row's address", set('crypto.externalCryptoAddress', 'another-address')),
    needs: 'crypto_address',
  },
  'payment-token': {
    ...always('PAYMENT_ROUTE_MISMATCH', "not the row's payment token", set('fiat.paymentToken', 'another-token')),
    needs: 'payment_token',
  },
  provider: {
    ...always('PAYMENT_ROUTE_MISMATCH', "not the row's provider", set('fiat.providerType', 'ANOTHER')),
    needs: 'provider_type',
  },
  status: always(
    'STATUS_UNMAPPED',
    'a status that is not in the settings (with follow.finalStatuses)',
    set('order.status', 'UNHEARD_OF'),
  ),
  crypto: always('LEG_CONFLICT', 'crypto never begun, money paid', set('crypto.status', 'NEW')),
  fiat: always('LEG_CONFLICT', 'crypto paid, money never begun', set('fiat.status', 'NEW')),
  created: always('ID_COLLISION', 'made a day before it was sent', move('creationDate', -DAY_MS)),
  modified: always('COMPLETION_INCONSISTENT', 'modified before it was made', move('modificationDate', -DAY_MS)),
  completed: always('COMPLETION_INCONSISTENT', 'completed before it was made', move('completionDate', -DAY_MS)),
  clock: always('CLOCK_SKEW', 'its dates are an hour ahead', all(...DATES.map((date) => move(date, HOUR_MS)))),
  identity: onceCompleted('IDENTITY_MISMATCH', 'another external order id', set('externalOrderId', 'another-order')),
  merchant: onceCompleted('MERCHANT_MISMATCH', 'another merchant', set('merchant.id', 'another-merchant')),
  id: onceCompleted('ORDER_REPLACED', 'another order id', set('order.id', 'another-order')),
  'id-reused': always('ORDER_REUSED', "another order's id, once completed", (record, { wasCompleted, otherOrderId }) =>
    wasCompleted && otherOrderId !== null ? set('order.id', otherOrderId)(record) : undefined,
  ),
  number: onceCompleted('ORDER_REPLACED', 'another order number', change('order.number', more)),
  vanished: onceCompleted('ORDER_VANISHED', 'no order any more', () => undefined),
  'internal-address': onceCompleted(
    'ADDRESS_CHANGED',
    "another address of the exchange's",
    set('crypto.internalCryptoAddress', 'another-address'),
  ),
  hash: onceCompleted('TX_HASH_CHANGED', 'another hash', set('crypto.transactionHash', 'another-hash')),
  'hash-reused': always('TX_HASH_REUSED', "another order's hash", (record, { wasCompleted, otherHash }) =>
    set('crypto.transactionHash', wasCompleted ? otherHash : null)(record),
  ),
  reopened: onceCompleted(
    'TERMINAL_REOPENED',
    'not completed any more',
    all(set('order.status', 'IN_PROGRESS'), set('order.completionDate', null), move('modificationDate', 1)),
  ),
  'silent-order': onceCompleted('SILENT_CHANGE', 'order rejected, same date', set('order.status', 'REJECTED')),
  'silent-crypto': onceCompleted('SILENT_CHANGE', 'crypto cancelled, same date', set('crypto.status', 'CANCELLED')),
  'silent-fiat': onceCompleted('SILENT_CHANGE', 'money cancelled, same date', set('fiat.status', 'CANCELLED')),
  'silent-creation': onceCompleted('SILENT_CHANGE', 'made earlier, same date', move('creationDate', -1)),
  'silent-completion': onceCompleted('SILENT_CHANGE', 'completed earlier, same date', move('completionDate', -1)),
  stale: onceCompleted('REPLICAS_DISAGREE', 'modified earlier than it was', move('modificationDate', -1)),
  fee: onceCompleted('TERMS_CHANGED', 'another fee', change('crypto.fee', more)),
  percent: onceCompleted('TERMS_CHANGED', 'another percent', change('percent', more)),
  'percent-enabled': onceCompleted('TERMS_CHANGED', 'percent not enabled', set('percentEnabled', false)),
  reward: onceCompleted('TERMS_CHANGED', 'another reward', change('reward', more)),
} as const satisfies Record<string, Tampering>;

export type TamperingName = keyof typeof TAMPERINGS;

export function tamperingNamedIn(externalOrderId: string): Tampering | undefined {
  return valueAfter<Tampering>('tamper-', externalOrderId, TAMPERINGS);
}

function always(finding: FindingClassName, what: string, record: NonNullable<Tampering['record']>): Tampering {
  return { finding, what, record };
}

function onceCompleted(finding: FindingClassName, what: string, tamper: NonNullable<Tampering['record']>): Tampering {
  const once: typeof tamper = (record, moment) => (moment.wasCompleted ? tamper(record, moment) : record);
  return always(finding, `${what}, once shown completed`, once);
}

type Change = (record: Fields) => Fields;

export function set(path: string, value: unknown): Change {
  return change(path, () => value);
}

export function all(...changes: readonly Change[]): Change {
  return (record) => changes.reduce((changed, one) => one(changed), record);
}

export function change(path: string, valueOf: (value: unknown) => unknown): Change {
  const [name = '', ...rest] = path.replace(/^\w+/, (part) => PARTS[part] ?? part).split('.');
  const below = rest.length === 0 ? valueOf : (value: unknown) => change(rest.join('.'), valueOf)(value as Fields);
  return (record) => ({ ...record, [name]: below(record[name]) });
}

function atTheRatio(record: Fields): Fields {
  const { inputAsset, ratio } = (record['order'] as Fields)['exchangeOperation'] as Fields;
  const output = new Big(String(inputAsset)).times(String(ratio)).toFixed();
  return set('operation.outputAsset', new LosslessNumber(output))(record);
}

function more(value: unknown): unknown {
  if (typeof value === 'number') return value + 1;
  return new LosslessNumber(new Big(String(value)).plus(LAST_DIGIT).toFixed());
}

function move(date: string, ms: number): Change {
  return change(`order.${date}`, (value) =>
    typeof value === 'string' ? new Date(Date.parse(value) + ms).toISOString() : value,
  );
}
