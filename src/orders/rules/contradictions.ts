import {
  amountField,
  currencyOf,
  isDecimal,
  isSameCurrency,
  isWithin,
  readDecimal,
  type AmountSettings,
} from '../../base/decimal.ts';
import { instantMs } from '../../base/instant.ts';
import type { Difference, MerchantOrder, RecordView } from './record.ts';

/** The most ms that the clocks of the exchange and of this machine may differ without a finding. */
export const SKEW_LIMIT_MS = 5 * 60_000;
/** A server that calls local time UTC is off by this at most. A larger difference of the clocks is not compensated. */
const MOST_COMPENSATED_MS = 14 * 60 * 60_000;

export interface Evidence {
  readonly order: MerchantOrder;
  readonly preOrderExchangeType: string | null;
  /** When the first create was sent, or the newest if the record is not older than it; null if unknown or adopted. */
  readonly firstSentAt: Date | null;
  /** The `merchant.id` from the account's first undisputed record that had one; null before that record. */
  readonly merchantId: string | null;
}

export interface ComparedRecord extends Evidence {
  readonly record: RecordView;
  readonly receivedAt: Date;
}

/** The differences of one kind: none if the values agree, undefined if a value is missing. */
export type Compared = readonly Difference[] | undefined;

/** The comparisons of an order record with its row, by their names in `follow.disputedBy`. */
export const COMPARISONS = {
  merchant: ({ merchantId, record }) => (merchantId === null ? undefined : answered(merchantId, record.merchantId)),

  age: ({ firstSentAt, record, receivedAt }) => {
    const isOlder = firstSentAt === null ? undefined : isCreatedBefore(firstSentAt, record, receivedAt);
    if (firstSentAt === null || isOlder === undefined) return undefined;
    return isOlder ? [{ expected: `created after ${firstSentAt.toISOString()}`, actual: record.creationDate }] : [];
  },

  pair: ({ order, record }) => {
    if (record.fromCurrency === null || record.toCurrency === null) return undefined;
    const expected = `${order.fromCurrency}/${order.toCurrency}`;
    const actual = `${record.fromCurrency}/${record.toCurrency}`;
    return isSameCurrency(expected, actual) ? [] : differing(expected, actual);
  },

  type: ({ order, preOrderExchangeType, record }) =>
    allOf(
      record.orderType === null ? undefined : differing(order.orderType, record.orderType),
      answered(preOrderExchangeType, record.exchangeType),
    ),

  amount: ({ order, record }, settings) => {
    const field = amountField(order.assetPosition, settings);
    const actual = field === undefined ? null : record[field];
    if (field === undefined || actual === null) return undefined;
    if (actual === order.asset && isDecimal(actual)) return [];
    const [ours, theirs] = [readDecimal(order.asset), readDecimal(actual)];
    const isEqual =
      ours.ok && theirs.ok && isWithin(ours.value, theirs.value, settings.tolerance, currencyOf(field, order));
    return isEqual ? [] : [{ expected: order.asset, actual }];
  },

  id: ({ order, record }) => differing(order.externalOrderId, record.externalOrderId),
} as const satisfies Record<string, (compared: ComparedRecord, settings: AmountSettings) => Compared>;

export type ContradictionKind = keyof typeof COMPARISONS;

export const CONTRADICTION_KINDS = Object.keys(COMPARISONS) as readonly ContradictionKind[];

export interface Contradiction extends Difference {
  readonly kind: ContradictionKind;
}

export function contradictionsOf(compared: ComparedRecord, settings: AmountSettings): readonly Contradiction[] {
  return CONTRADICTION_KINDS.flatMap((kind) =>
    (COMPARISONS[kind](compared, settings) ?? []).map((difference) => ({ kind, ...difference })),
  );
}

/** True if an order is over 5 min older than a request; undefined if a date is unreadable or our clock was set back. */
export function isCreatedBefore(sentAt: Date, record: RecordView, receivedAt: Date): boolean | undefined {
  const createdMs = instantMs(record.creationDate);
  const isSetBack = receivedAt.getTime() < sentAt.getTime() - SKEW_LIMIT_MS;
  if (Number.isNaN(sentAt.getTime()) || createdMs === undefined || isSetBack) return undefined;
  const skewMs = (instantMs(record.serverDate) ?? receivedAt.getTime()) - receivedAt.getTime();
  // If the exchange's clock is behind ours, the order seems older than it is.
  const behindMs = Math.abs(skewMs) <= MOST_COMPENSATED_MS ? Math.min(0, skewMs) : 0;
  return createdMs < sentAt.getTime() + behindMs - SKEW_LIMIT_MS;
}

export function differing(expected: string, actual: string | null): readonly Difference[] {
  return expected === actual ? [] : [{ expected, actual }];
}

/** A payment token is a secret, so a difference does not show it. */
export const OTHER_TOKEN: Difference = { expected: 'paymentToken (not shown)', actual: 'another paymentToken' };

/** Compares a value with the record's value, which the record may lack. If `sent` is null, nothing differs. */
export function answered(sent: string | null, actual: string | null): Compared {
  if (sent === null) return [];
  return actual === null ? undefined : differing(sent, actual);
}

/** Joins comparisons. Returns undefined if no comparison found a difference and one of them lacked a value. */
export function allOf(...compared: readonly Compared[]): Compared {
  const found = compared.flatMap((one) => one ?? []);
  return found.length > 0 || !compared.includes(undefined) ? found : undefined;
}
