/** The worst first. */
export const SEVERITIES = ['error', 'warning', 'info'] as const;

/** The weight of a finding: an `error` may cost money, a person should look at a `warning`, an `info` explains. */
export type Severity = (typeof SEVERITIES)[number];

/** Findings of kind `state` resolve themselves once they are no longer true; those of kind `change` need a person. */
export interface FindingClass {
  readonly severity: Severity;
  readonly kind: 'state' | 'change';
  readonly meaning: string;
  readonly advice: string;
}

const classOf =
  (kind: FindingClass['kind'], severity: Severity) =>
  (meaning: string, advice: string): FindingClass => ({ severity, kind, meaning, advice });
const stateError = classOf('state', 'error');
const stateWarning = classOf('state', 'warning');
const stateInfo = classOf('state', 'info');
const changeError = classOf('change', 'error');
const changeWarning = classOf('change', 'warning');
const changeInfo = classOf('change', 'info');

/** Every class of findings. The manual, the reports and `report explain` show this table. */
export const FINDING_CLASSES = {
  CREATE_UNKNOWN: stateError(
    'An order was sent, and nobody knows whether the exchange took it.',
    'Ask the exchange for the external order id, then record the answer with orders resolve.',
  ),
  FAIL_OVER: stateError(
    'A standby of the database was promoted, and it may lack the last commits: orders may have been sent without a trace.',
    'Ask the exchange for the orders that orders list --state unknown shows, then decide with db accept-restore --failover.',
  ),
  PREORDER_ECHO_MISMATCH: stateError(
    'The pre-order that the exchange returned differs from the order that was sent.',
    'Compare the two with orders show, and have the exchange correct or cancel the pre-order before the client takes it up.',
  ),
  PREORDER_TOKEN_MISMATCH: stateError(
    'The pre-order that the exchange returned bears another payment token than the one that was sent.',
    'Ask the exchange whether it answers with the token of the request or with one of its own.',
  ),
  PREORDER_MISSING: stateError(
    'The exchange no longer knows a pre-order that it had accepted.',
    'Ask the exchange what happened to the pre-order, by its id.',
  ),
  PREORDER_REUSED: changeError(
    'The exchange answered a create with a pre-order that another order has already.',
    'Ask the exchange for which of the two orders the pre-order is, and do not count it twice.',
  ),
  ORDER_MISSING: stateWarning(
    'The exchange accepted the pre-order, but has shown no order for longer than reconcile.orderMissingAfter.',
    'Ask the client; if the pre-order was certainly never taken up, end it with orders resolve ID --as abandoned.',
  ),
  UNEXPECTED_ORDER: changeError(
    'The exchange has an order although ours was rejected, cancelled, abandoned or never sent.',
    'Find out who made the order; it is followed from now on.',
  ),
  ID_COLLISION: stateError(
    'The order at the exchange is older than our first request, so it is another order with the same id.',
    'Do not count this order, and insert yours again under a new id; if it is yours all the same, use orders resolve ID --as ours.',
  ),
  IDENTITY_MISMATCH: stateError(
    'The exchange was asked for one external order id and answered for another.',
    'Report both ids to the exchange; of the answer nothing was used, or the order is disputed where only the spelling differs.',
  ),
  MERCHANT_MISMATCH: stateError(
    'The order belongs to another merchant than the first order of this account.',
    'Check that the API key belongs to the right merchant account.',
  ),
  ORDER_REPLACED: changeError(
    'The exchange now shows another order (id or number) for this external order id.',
    'Ask the exchange for the reason, and compare the amounts of both orders.',
  ),
  ORDER_REUSED: stateError(
    'The exchange gives the same order (its id) for several orders.',
    'Ask the exchange for which of them it is, and do not count it twice.',
  ),
  ORDER_VANISHED: stateError(
    'The exchange no longer finds an order that it had shown.',
    'Ask the exchange what happened to the order; our newest record of it is kept.',
  ),
  PAIR_MISMATCH: stateError(
    'The currency pair of the order at the exchange differs from ours.',
    'Have the exchange correct the order before money moves.',
  ),
  AMOUNT_MISMATCH: stateError(
    'The input amount of the order at the exchange differs from ours.',
    'Compare both with the pre-order, and settle the difference with the exchange.',
  ),
  RATE_INCONSISTENT: stateInfo(
    'Input amount, output amount and ratio of the order do not agree with each other.',
    'Check whether rounding or the fee explains the difference.',
  ),
  TYPE_MISMATCH: stateError(
    'The order type differs from ours, or the exchange type from the pre-order.',
    'Have the exchange correct the order.',
  ),
  LEG_CURRENCY_MISMATCH: stateError(
    'The crypto and the fiat transaction are not in the two currencies of the pair.',
    'Ask the exchange which transactions belong to the order.',
  ),
  ADDRESS_MISMATCH: stateError(
    'The external crypto address of the order differs from the one that we gave.',
    'Pay nothing to the address that was found until the exchange has confirmed it by another channel.',
  ),
  ADDRESS_CHANGED: changeError(
    'A crypto address of the order changed after the order was made.',
    'Pay nothing to the address that was found until the exchange has confirmed it by another channel.',
  ),
  PAYMENT_ROUTE_MISMATCH: stateError(
    'The fiat transaction uses another payment token or provider than we asked for.',
    'Check that the payout goes to the right client.',
  ),
  TX_HASH_CHANGED: changeError(
    'The hash of the crypto transaction changed after it was set.',
    'Check both transactions on the blockchain.',
  ),
  TX_HASH_REUSED: stateError(
    'The exchange gives the same crypto transaction for several orders.',
    'Check on the blockchain which of the orders it paid.',
  ),
  STATUS_UNMAPPED: stateInfo(
    'The order has a status that is neither documented nor in follow.finalStatuses or follow.openStatuses.',
    'Ask the exchange for its meaning, and add it to one of the two settings.',
  ),
  TERMINAL_REOPENED: changeWarning(
    'A final order is open again.',
    'Do not rely on its earlier result; the order is followed again.',
  ),
  LEG_CONFLICT: stateWarning(
    'The order is final, but one of its two transactions has begun and the other has not.',
    'Ask the exchange whether both sides were paid.',
  ),
  COMPLETION_INCONSISTENT: stateWarning(
    'The dates of the order contradict each other or its status.',
    'Ask the exchange which of them is right.',
  ),
  SILENT_CHANGE: changeWarning(
    'Fields of the order changed while its modification date stayed the same.',
    'Compare the old and the new value; the new one is kept.',
  ),
  REPLICAS_DISAGREE: changeInfo(
    'The exchange answers with an older record again, or with two records of one date in turn; it is counted.',
    'Report it to the exchange if it goes on; our record was not changed.',
  ),
  STUCK: stateWarning(
    'The order has not changed for longer than orders usually take.',
    'Ask the exchange or the client what the order waits for.',
  ),
  TERMS_CHANGED: changeWarning(
    'Percent, reward or fee changed after the order was made.',
    'Compare the new terms with what was agreed.',
  ),
  CLOCK_SKEW: stateWarning(
    'The clock of the exchange and ours differ by more than five minutes.',
    'Check the time service of this machine.',
  ),
  UNCHECKED: stateWarning(
    'The order was never looked up successfully, or too long ago, or it cannot be compared.',
    'Run order-sync sync; if the record is too old or lacks an amount, ask the exchange.',
  ),
};

export type FindingClassName = keyof typeof FINDING_CLASSES;

/** The classes that `reconcile.ignore` may name: the interface does not say that the two values must be the same. */
export const GUESSED_CLASSES: readonly FindingClassName[] = [
  'PREORDER_TOKEN_MISMATCH',
  'LEG_CURRENCY_MISMATCH',
  'ADDRESS_MISMATCH',
  'PAYMENT_ROUTE_MISMATCH',
  'TX_HASH_REUSED',
];

export function findingClass(name: string): FindingClass | undefined {
  return Object.hasOwn(FINDING_CLASSES, name) ? FINDING_CLASSES[name as FindingClassName] : undefined;
}

export function severityOf(name: string): Severity | null {
  return findingClass(name)?.severity ?? null;
}
