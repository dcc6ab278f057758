/** The weight of a finding: an `error` may cost money, a person should look at a `warning`, an `info` explains. */
export type Severity = 'error' | 'warning' | 'info';

/**
 * A class of findings. A finding of kind `state` resolves itself when it is no longer true. A finding of kind `change`
 * is about something that happened, and stays until a person acknowledges it.
 */
export interface FindingClass {
  readonly severity: Severity;
  readonly kind: 'state' | 'change';
  /** Its meaning for finance people, in one sentence. */
  readonly meaning: string;
  /** The action that a person should take, in one sentence. */
  readonly advice: string;
}

/** Every class of findings. The manual, the reports and `report explain` show this table. */
export const FINDING_CLASSES = {
  CREATE_UNKNOWN: {
    severity: 'error',
    kind: 'state',
    meaning: 'An order was sent, and nobody knows whether the exchange took it.',
    advice: 'Ask the exchange for the external order id, then record the answer with orders resolve.',
  },
  PREORDER_ECHO_MISMATCH: {
    severity: 'error',
    kind: 'state',
    meaning: 'The pre-order that the exchange returned differs from the order that was sent.',
    advice:
      'Compare the two with orders show, and have the exchange correct or cancel the pre-order before the client takes it up.',
  },
  PREORDER_MISSING: {
    severity: 'error',
    kind: 'state',
    meaning: 'The exchange no longer knows a pre-order that it had accepted.',
    advice: 'Ask the exchange what happened to the pre-order, by its id.',
  },
  ORDER_MISSING: {
    severity: 'warning',
    kind: 'state',
    meaning: 'The exchange accepted the pre-order, but has shown no order for longer than reconcile.orderMissingAfter.',
    advice:
      'Ask the client; if the pre-order was certainly never taken up, end it with orders resolve ID --as abandoned.',
  },
  UNEXPECTED_ORDER: {
    severity: 'error',
    kind: 'change',
    meaning: 'The exchange has an order for a row that was rejected, cancelled, abandoned or never sent.',
    advice: 'Find out who made the order; its row is followed from now on.',
  },
  ID_COLLISION: {
    severity: 'error',
    kind: 'state',
    meaning: 'The order at the exchange is older than our first request, so it is another order with the same id.',
    advice: 'Do not count this order, and insert yours again with an id that was never used.',
  },
  IDENTITY_MISMATCH: {
    severity: 'error',
    kind: 'state',
    meaning: 'The exchange was asked for one external order id and answered for another.',
    advice: 'Report both ids to the exchange; nothing of the answer was used.',
  },
  MERCHANT_MISMATCH: {
    severity: 'error',
    kind: 'state',
    meaning: 'The order belongs to another merchant than the first order of this account.',
    advice: 'Check that the API key belongs to the right merchant account.',
  },
  ORDER_REPLACED: {
    severity: 'error',
    kind: 'change',
    meaning: 'The exchange now shows another order (id or number) for this external order id.',
    advice: 'Ask the exchange for the reason, and compare the amounts of both orders.',
  },
  ORDER_VANISHED: {
    severity: 'error',
    kind: 'state',
    meaning: 'The exchange no longer finds an order that it had shown.',
    advice: 'Ask the exchange what happened to the order; our newest record of it is kept.',
  },
  PAIR_MISMATCH: {
    severity: 'error',
    kind: 'state',
    meaning: 'The currency pair of the order differs from that of the row.',
    advice: 'Have the exchange correct the order before money moves.',
  },
  AMOUNT_MISMATCH: {
    severity: 'error',
    kind: 'state',
    meaning: 'The input amount of the order differs from the amount of the row.',
    advice: 'Compare both with the pre-order, and settle the difference with the exchange.',
  },
  RATE_INCONSISTENT: {
    severity: 'info',
    kind: 'state',
    meaning: 'Input amount, output amount and ratio of the order do not agree with each other.',
    advice: 'Check whether rounding or the fee explains the difference.',
  },
  TYPE_MISMATCH: {
    severity: 'error',
    kind: 'state',
    meaning: 'The order type differs from the row, or the exchange type differs from the pre-order.',
    advice: 'Have the exchange correct the order.',
  },
  LEG_CURRENCY_MISMATCH: {
    severity: 'error',
    kind: 'state',
    meaning: 'The crypto and the fiat transaction are not in the two currencies of the pair.',
    advice: 'Ask the exchange which transactions belong to the order.',
  },
  ADDRESS_CHANGED: {
    severity: 'error',
    kind: 'change',
    meaning: 'A crypto address of the order differs from the row, or changed after the order was made.',
    advice: 'Stop payments to this address until the exchange has confirmed it by another channel.',
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
    advice: 'Check both transactions on the blockchain.',
  },
  TX_HASH_REUSED: {
    severity: 'error',
    kind: 'state',
    meaning: 'The exchange gives the same crypto transaction for several orders.',
    advice: 'Check on the blockchain which of the orders it paid.',
  },
  STATUS_UNMAPPED: {
    severity: 'info',
    kind: 'state',
    meaning: 'The order has a status that is neither documented nor in follow.finalStatuses or follow.openStatuses.',
    advice: 'Ask the exchange for its meaning, and add it to one of the two settings.',
  },
  TERMINAL_REOPENED: {
    severity: 'warning',
    kind: 'change',
    meaning: 'A final order is open again.',
    advice: 'Do not rely on its earlier result; the order is followed again.',
  },
  LEG_CONFLICT: {
    severity: 'warning',
    kind: 'state',
    meaning: 'The order is final, but one of its two transactions has begun and the other has not.',
    advice: 'Ask the exchange whether both sides were paid.',
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
    meaning: 'Fields of the order changed while its modification date stayed the same.',
    advice: 'Compare the old and the new value; the new one is kept.',
  },
  STALE_SNAPSHOT: {
    severity: 'info',
    kind: 'change',
    meaning: 'The exchange sent a record that is older than ours.',
    advice: 'Report it to the exchange if it happens again; our record was not changed.',
  },
  STUCK: {
    severity: 'warning',
    kind: 'state',
    meaning: 'The order has not changed for longer than orders usually take.',
    advice: 'Ask the exchange or the client what the order waits for.',
  },
  TERMS_CHANGED: {
    severity: 'warning',
    kind: 'change',
    meaning: 'Percent, reward or fee changed after the order was made.',
    advice: 'Compare the new terms with what was agreed.',
  },
  CLOCK_SKEW: {
    severity: 'warning',
    kind: 'state',
    meaning: 'The clock of the exchange and ours differ by more than five minutes.',
    advice: 'Check the time service of this machine.',
  },
  UNCHECKED: {
    severity: 'warning',
    kind: 'state',
    meaning: 'The order was never looked up successfully, or too long ago, or it cannot be compared.',
    advice: 'Run order-sync sync; if the record is too old or lacks an amount, ask the exchange.',
  },
} as const satisfies Record<string, FindingClass>;

/** The name of a class of findings. */
export type FindingClassName = keyof typeof FINDING_CLASSES;
