import type { AmountSettings } from '../amounts.ts';
import type { ComparedRecord } from '../contradictions.ts';
import type { FindingClassName } from './classes.ts';
import type { Difference, RecordView } from '../record.ts';
import type { OrderState } from '../orders/states.ts';

/** One thing that reconciliation found about an order, with both values. */
export interface Finding extends Difference {
  readonly class: FindingClassName;
}

/** An order record and everything that it is compared with. */
export interface RecordContext extends ComparedRecord {
  /** The state of the order before the record, and with it. */
  readonly stateBefore: OrderState;
  readonly state: OrderState;
  /** False where no create was ever sent, and no existing order was taken over. */
  readonly isExpected: boolean;
  /** The record before this one. */
  readonly earlier: RecordView | null;
  /** Another order of the account with the same transaction hash. */
  readonly hashUsedBy: string | null;
  /** Another order of the account that has the same order at the exchange. */
  readonly orderUsedBy: string | null;
}

/** Settings of the comparison of a record with its order. */
export interface ReconcileSettings extends AmountSettings {
  readonly finalStatuses: readonly string[];
  readonly openStatuses: readonly string[];
  /** Classes that the merchant has declared meaningless. */
  readonly ignore: readonly FindingClassName[];
}

/** Gives a finding where two values differ. */
export function differs(name: FindingClassName, expected: string | null, actual: string | null): readonly Finding[] {
  return expected === actual ? [] : [found(name, expected, actual)];
}

/** Makes a finding. */
export function found(name: FindingClassName, expected: string | null, actual: string | null): Finding {
  return { class: name, expected, actual };
}
