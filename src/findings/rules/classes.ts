/** The worst severity first. */
export const SEVERITIES = ['error', 'warning', 'info'] as const;

/** An `error` may cost money. A person should look at a `warning`. An `info` is listed, but not counted. */
export type Severity = (typeof SEVERITIES)[number];

/** A finding of kind `state` is resolved when it is no longer true. A `change` stays until a person acknowledges it. */
interface FindingClass {
  readonly severity: Severity;
  readonly kind: 'state' | 'change';
}

const stateError: FindingClass = { severity: 'error', kind: 'state' };
const stateWarning: FindingClass = { severity: 'warning', kind: 'state' };
const stateInfo: FindingClass = { severity: 'info', kind: 'state' };
const changeError: FindingClass = { severity: 'error', kind: 'change' };
const changeWarning: FindingClass = { severity: 'warning', kind: 'change' };
const changeInfo: FindingClass = { severity: 'info', kind: 'change' };

/** Classes come first if money may go to the wrong place or twice. Lists of classes have this order. */
export const FINDING_CLASSES = {
  FAIL_OVER: stateError,
  CREATE_UNKNOWN: stateError,
  ADDRESS_CHANGED: changeError,
  ADDRESS_MISMATCH: stateError,
  PAYMENT_ROUTE_MISMATCH: stateError,
  AMOUNT_MISMATCH: stateError,
  PAIR_MISMATCH: stateError,
  ID_COLLISION: stateError,
  IDENTITY_MISMATCH: stateError,
  MERCHANT_MISMATCH: stateError,
  UNEXPECTED_ORDER: changeError,
  ORDER_REPLACED: changeError,
  ORDER_REUSED: stateError,
  ORDER_VANISHED: stateError,
  TX_HASH_CHANGED: changeError,
  TX_HASH_REUSED: stateError,
  LEG_CURRENCY_MISMATCH: stateError,
  TYPE_MISMATCH: stateError,
  PREORDER_MISSING: stateError,
  PREORDER_REUSED: changeError,
  PREORDER_ECHO_MISMATCH: stateError,
  PREORDER_TOKEN_MISMATCH: stateError,
  UNCHECKED: stateWarning,
  ORDER_MISSING: stateWarning,
  STUCK: stateWarning,
  TERMINAL_REOPENED: changeWarning,
  LEG_CONFLICT: stateWarning,
  SILENT_CHANGE: changeWarning,
  TERMS_CHANGED: changeWarning,
  COMPLETION_INCONSISTENT: stateWarning,
  CLOCK_SKEW: stateWarning,
  RATE_INCONSISTENT: stateInfo,
  STATUS_UNMAPPED: stateInfo,
  REPLICAS_DISAGREE: changeInfo,
};

export type FindingClassName = keyof typeof FINDING_CLASSES;

/** The classes that `reconcile.ignore` may name, because the interface does not require equal values. */
export const GUESSED_CLASSES: readonly FindingClassName[] = [
  'PREORDER_TOKEN_MISMATCH',
  'LEG_CURRENCY_MISMATCH',
  'ADDRESS_MISMATCH',
  'PAYMENT_ROUTE_MISMATCH',
  'TX_HASH_REUSED',
];

export function severityOf(name: string): Severity | null {
  return Object.hasOwn(FINDING_CLASSES, name) ? FINDING_CLASSES[name as FindingClassName].severity : null;
}
