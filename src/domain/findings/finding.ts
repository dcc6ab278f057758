import type { FindingClassName } from './classes.ts';
import type { Difference, MerchantOrder, RecordView } from '../record.ts';
import type { OrderState } from '../orders/states.ts';

/** One thing that reconciliation found about an order, with both values. */
export interface Finding extends Difference {
  readonly class: FindingClassName;
}

/** An order record and everything that it is compared with. */
export interface RecordContext {
  /** The row as it was sent. */
  readonly order: MerchantOrder;
  /** The state of the order before the record, and with it. */
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

/** Settings of the comparison of a record with its order. */
export interface ReconcileSettings {
  /** The largest difference of amounts that counts as none; decimal text. */
  readonly tolerance: string;
  readonly finalStatuses: readonly string[];
  readonly openStatuses: readonly string[];
}

/** The asset position whose amount can be compared; orders of other positions stay unchecked. */
export const COMPARED_POSITION = 'INPUT';

/** Gives a finding where two values differ. */
export function differs(name: FindingClassName, expected: string | null, actual: string | null): readonly Finding[] {
  return expected === actual ? [] : [found(name, expected, actual)];
}

/** Makes a finding. */
export function found(name: FindingClassName, expected: string | null, actual: string | null): Finding {
  return { class: name, expected, actual };
}
