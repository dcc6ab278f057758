/** How much a finding matters: an `error` may be money, a `warning` wants a look, an `info` explains. */
export type Severity = 'error' | 'warning' | 'info';

/**
 * One class of findings. A `state` finding is true or not each time it is looked at, and resolves itself when it is no
 * longer true. A `change` happened and stays until a person acknowledges it.
 */
export interface FindingClass {
  readonly severity: Severity;
  readonly kind: 'state' | 'change';
  /** What it means, one sentence. */
  readonly meaning: string;
  /** What a person does about it, one sentence. */
  readonly advice: string;
}

/** Every class: the manual, the reports and `report explain` read this table. */
export const FINDING_CLASSES = {
  CREATE_UNKNOWN: {
    severity: 'error',
    kind: 'state',
    meaning: 'A create was sent and nobody knows whether the exchange took it.',
    advice: 'Ask the exchange for the external order id, then say so with orders resolve.',
  },
  PREORDER_ECHO_MISMATCH: {
    severity: 'error',
    kind: 'state',
    meaning: 'The pre-order that the exchange returned differs from the order that was sent.',
    advice:
      'Compare the two with orders show; have the exchange correct or cancel the pre-order before it is taken up.',
  },
  PREORDER_MISSING: {
    severity: 'error',
    kind: 'state',
    meaning: 'The exchange no longer knows the pre-order whose id it gave.',
    advice: 'Ask the exchange what became of the pre-order id.',
  },
  ORDER_MISSING: {
    severity: 'warning',
    kind: 'state',
    meaning: 'The pre-order was accepted and no order has come of it for longer than reconcile.orderMissingAfter.',
    advice: 'The client may never have taken it up; when that is certain, orders resolve ID --as abandoned.',
  },
  UNEXPECTED_ORDER: {
    severity: 'error',
    kind: 'change',
    meaning: 'The exchange has an order for a row that was rejected, cancelled, abandoned or never sent.',
    advice: 'Find out who made the order; the row follows it from now on.',
  },
  ID_COLLISION: {
    severity: 'error',
    kind: 'state',
    meaning: 'The order at the exchange is older than our first request: another order has this id.',
    advice: 'Do not count this order; insert it again under an id that was never used.',
  },
  IDENTITY_MISMATCH: {
    severity: 'error',
    kind: 'state',
    meaning: 'The exchange answered for another external order id than it was asked for.',
    advice: 'Report it to the exchange with both ids; nothing of the answer was used.',
  },
  MERCHANT_MISMATCH: {
    severity: 'error',
    kind: 'state',
    meaning: 'The order belongs to another merchant than the first order of this account.',
    advice: 'Check whether the key belongs to the right merchant account.',
  },
  ORDER_REPLACED: {
    severity: 'error',
    kind: 'change',
    meaning: 'Another order (id or number) now answers for this external order id.',
    advice: 'Ask the exchange why; compare the amounts of both orders.',
  },
  ORDER_VANISHED: {
    severity: 'error',
    kind: 'state',
    meaning: 'The exchange no longer finds an order that it had shown.',
    advice: 'Ask the exchange; the newest record we have is kept.',
  },
  PAIR_MISMATCH: {
    severity: 'error',
    kind: 'state',
    meaning: 'The order is for another currency pair than the row.',
    advice: 'Have the exchange correct the order before money moves.',
  },
  AMOUNT_MISMATCH: {
    severity: 'error',
    kind: 'state',
    meaning: 'The order has another input amount than the row.',
    advice: 'Compare with the pre-order; settle the difference with the exchange.',
  },
  RATE_INCONSISTENT: {
    severity: 'info',
    kind: 'state',
    meaning: 'Input amount, output amount and ratio of the order do not agree.',
    advice: 'Rounding or fees may explain it; compare the fee.',
  },
  TYPE_MISMATCH: {
    severity: 'error',
    kind: 'state',
    meaning: 'Order type or exchange type of the order differ from the row or the pre-order.',
    advice: 'Have the exchange correct the order.',
  },
  LEG_CURRENCY_MISMATCH: {
    severity: 'error',
    kind: 'state',
    meaning: 'The currencies of the crypto and the fiat transaction are not the two of the pair.',
    advice: 'Have the exchange explain which transaction belongs to the order.',
  },
  ADDRESS_CHANGED: {
    severity: 'error',
    kind: 'change',
    meaning: 'A crypto address of the order differs from the row, or changed after the order was made.',
    advice: 'Stop paying to this address until the exchange has confirmed it by another channel.',
  },
  PAYMENT_ROUTE_MISMATCH: {
    severity: 'error',
    kind: 'state',
    meaning: 'The fiat transaction uses another payment token or provider than the row asked for.',
    advice: 'Check that the payout goes to the right client.',
  },
  TX_HASH_CHANGED: {
    severity: 'error',
    kind: 'change',
    meaning: 'The hash of the crypto transaction changed after it was set.',
    advice: 'Check both transactions on the chain.',
  },
  TX_HASH_REUSED: {
    severity: 'error',
    kind: 'state',
    meaning: 'One crypto transaction is given for several orders.',
    advice: 'Check on the chain which order it paid.',
  },
  STATUS_UNMAPPED: {
    severity: 'info',
    kind: 'state',
    meaning: 'The order has a status that is neither documented nor in follow.finalStatuses or follow.openStatuses.',
    advice: 'Ask the exchange what it means and put it into the settings.',
  },
  TERMINAL_REOPENED: {
    severity: 'warning',
    kind: 'change',
    meaning: 'A final order is open again.',
    advice: 'Do not rely on the earlier end; the order is followed again.',
  },
  LEG_CONFLICT: {
    severity: 'warning',
    kind: 'state',
    meaning: 'The order is final and one of its transactions has not begun, or only one of them has.',
    advice: 'Check with the exchange whether both sides were paid.',
  },
  COMPLETION_INCONSISTENT: {
    severity: 'warning',
    kind: 'state',
    meaning: 'The dates of the order contradict each other or its status.',
    advice: 'Ask the exchange which of them is right.',
  },
  SILENT_CHANGE: {
    severity: 'warning',
    kind: 'change',
    meaning: 'Fields changed while the modification date stayed the same.',
    advice: 'Compare the two values; the newer one is kept.',
  },
  STALE_SNAPSHOT: {
    severity: 'info',
    kind: 'change',
    meaning: 'The exchange sent a record older than the one we have.',
    advice: 'Nothing was changed; report it to the exchange when it goes on.',
  },
  STUCK: {
    severity: 'warning',
    kind: 'state',
    meaning: 'The order has not changed for longer than orders usually take.',
    advice: 'Ask the exchange or the client what it waits for.',
  },
  TERMS_CHANGED: {
    severity: 'warning',
    kind: 'change',
    meaning: 'Percent, reward or fee changed after the order was made.',
    advice: 'Compare with what was agreed.',
  },
  CLOCK_SKEW: {
    severity: 'warning',
    kind: 'state',
    meaning: "The exchange's clock and ours differ by more than five minutes.",
    advice: 'Check the time service of this machine.',
  },
  UNCHECKED: {
    severity: 'warning',
    kind: 'state',
    meaning: 'The order was never looked up with success, or too long ago, or has an amount that cannot be compared.',
    advice:
      'Run order-sync sync; what an older record or one without an amount leaves open only the exchange can tell.',
  },
} as const satisfies Record<string, FindingClass>;

/** The name of a class. */
export type FindingClassName = keyof typeof FINDING_CLASSES;
