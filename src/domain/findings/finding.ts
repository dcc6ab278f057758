import type { FindingClassName } from './classes.ts';
import type { Difference, MerchantOrder, RecordView } from '../record.ts';
import type { OrderState } from '../orders/states.ts';

/** What reconciliation found of one order: both values, as text. Secrets are named, not shown. */
export interface Finding extends Difference {
  readonly class: FindingClassName;
}

/** What an order record is compared with. */
export interface RecordContext {
  /** The row as it was sent. */
  readonly order: MerchantOrder;
  /** Where the order stood before the record, and where it stands with it. */
  readonly stateBefore: OrderState;
  readonly state: OrderState;
  /** exchangeType of the pre-order (§2.6). */
  readonly preOrderExchangeType: string | null;
  readonly record: RecordView;
  /** The record before this one. */
  readonly earlier: RecordView | null;
  /** When the record arrived. */
  readonly receivedAt: Date;
  /** When the first create of the order was sent; null when none ever was. */
  readonly firstSentAt: Date | null;
  /** merchant.id of the account's first record. */
  readonly merchantId: string | null;
  /** Another order of the account with the same transaction hash. */
  readonly hashUsedBy: string | null;
}

/** Settings of the comparison. */
export interface ReconcileSettings {
  /** Largest difference of amounts that is none; decimal text. */
  readonly tolerance: string;
  readonly finalStatuses: readonly string[];
  readonly openStatuses: readonly string[];
}

/** The position whose amount can be compared; orders of another one stay unchecked. */
export const COMPARED_POSITION = 'INPUT';

/** A finding where two values differ, or none. */
export function differs(name: FindingClassName, expected: string | null, actual: string | null): readonly Finding[] {
  return expected === actual ? [] : [found(name, expected, actual)];
}

/** One finding. */
export function found(name: FindingClassName, expected: string | null, actual: string | null): Finding {
  return { class: name, expected, actual };
}
