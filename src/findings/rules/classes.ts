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

/** The part of the advice on CREATE_UNKNOWN that is about a held order. */
export const ASK_ABOUT_HELD =
  'ask the exchange about the external order id, then record its answer with a command that order-sync orders explain ORDER shows.';

/**
 * Every class of findings, the gravest first: first classes by which money may go to the wrong place or twice, then
 * contradictions. Lists have this order. The manual, the reports and `report explain` show this table.
 */
export const FINDING_CLASSES = {
  FAIL_OVER: stateError(
    'A standby of the database took over, and it may lack the last commits. Orders may have been sent without a record.',
    'Ask the exchange about the orders that order-sync orders list --state unknown shows, then record its answer with order-sync db accept-restore, as the reason of each of these orders says.',
  ),
  CREATE_UNKNOWN: stateError(
    'The order was sent, and it is not known whether the exchange took it.',
    `While the order is unknown, order-sync looks it up by itself: wait. If it is held, ${ASK_ABOUT_HELD}`,
  ),
  ADDRESS_CHANGED: changeError(
    'A crypto address of the order changed after the order was made.',
    'Do not pay to the new address until the exchange has confirmed it through another channel.',
  ),
  ADDRESS_MISMATCH: stateError(
    'The external crypto address of the order at the exchange differs from the one that we sent.',
    'Do not pay to the address at the exchange until the exchange has confirmed it through another channel.',
  ),
  PAYMENT_ROUTE_MISMATCH: stateError(
    'The payment token or provider of the fiat transaction differs from the one that we sent.',
    'Check that the payout goes to the right client.',
  ),
  AMOUNT_MISMATCH: stateError(
    'The amount of the order at the exchange differs from ours.',
    'If the order at the exchange is yours, compare both amounts with the pre-order, and settle the difference with the exchange.',
  ),
  PAIR_MISMATCH: stateError(
    'The currency pair of the order at the exchange differs from ours.',
    'If the order at the exchange is yours, ask the exchange to correct it before money moves.',
  ),
  ID_COLLISION: stateError(
    'The order at the exchange is older than our first request, so it is another order with the same id.',
    'Do not pay or deliver for this order. If it is not yours, ask the exchange first what becomes of your own pre-order, if there is one. Then run the following command with --as abandoned, and insert your order again under a new id. If it is yours after all, run order-sync orders resolve ORDER --as ours --reason TEXT.',
  ),
  IDENTITY_MISMATCH: stateError(
    'The exchange was asked about one external order id and answered about another.',
    'Report both ids to the exchange. The answer was not used. If only the spelling of the id differs, the order is disputed.',
  ),
  MERCHANT_MISMATCH: stateError(
    'The order belongs to another merchant than the first order of this account.',
    'Check that the API key belongs to the right merchant account.',
  ),
  UNEXPECTED_ORDER: changeError(
    'The exchange has an order, but ours was rejected, cancelled, abandoned or never sent.',
    'Find out who made the order. order-sync follows it from now on.',
  ),
  ORDER_REPLACED: changeError(
    'The exchange now shows another order (id or number) for this external order id.',
    'Ask the exchange for the reason, and compare the amounts of both orders.',
  ),
  ORDER_REUSED: stateError(
    'The exchange shows the same order for several of our orders.',
    'Ask the exchange which of our orders it belongs to, and do not count it twice.',
  ),
  ORDER_VANISHED: stateError(
    'The exchange no longer finds an order that it has shown before.',
    'Ask the exchange what happened to the order. Our newest record of it is kept.',
  ),
  TX_HASH_CHANGED: changeError(
    'The hash of the crypto transaction changed after it was set.',
    'Check both transactions on the blockchain.',
  ),
  TX_HASH_REUSED: stateError(
    'The exchange shows the same crypto transaction for several orders.',
    'Check on the blockchain which of the orders the transaction paid.',
  ),
  LEG_CURRENCY_MISMATCH: stateError(
    'The crypto transaction and the fiat transaction are not in the two currencies of the pair.',
    'Ask the exchange which transactions belong to the order.',
  ),
  TYPE_MISMATCH: stateError(
    'The order type differs from ours, or the exchange type differs from that of the pre-order.',
    'If the order at the exchange is yours, ask the exchange to correct it.',
  ),
  PREORDER_MISSING: stateError(
    'The exchange no longer knows a pre-order that it had accepted.',
    'Ask the exchange what happened to the pre-order, and name its id.',
  ),
  PREORDER_REUSED: changeError(
    'The exchange answered a create with a pre-order that belongs to another order already.',
    'Ask the exchange which of the two orders the pre-order belongs to, and do not count it twice.',
  ),
  PREORDER_ECHO_MISMATCH: stateError(
    'The pre-order that the exchange returned differs from the order that was sent.',
    'Compare the two with order-sync orders show ORDER, and ask the exchange to correct or cancel the pre-order before the client takes it up.',
  ),
  PREORDER_TOKEN_MISMATCH: stateError(
    'The payment token of the pre-order that the exchange returned differs from the one that was sent.',
    'Ask the exchange whether it returns the token of the request or one of its own.',
  ),
  UNCHECKED: stateWarning(
    'The order was never looked up successfully, was last looked up too long ago, or cannot be compared.',
    'Run order-sync sync. If the record is too old or has no amount, ask the exchange.',
  ),
  ORDER_MISSING: stateWarning(
    'The exchange accepted the pre-order long ago, but has shown no order.',
    'Ask the client for whom you placed the order whether the pre-order was taken up. If it certainly was not, end it with order-sync orders resolve ORDER --as abandoned --reason TEXT.',
  ),
  STUCK: stateWarning(
    'The order has not changed for longer than orders usually take.',
    'Ask the exchange or the client what the order is waiting for.',
  ),
  TERMINAL_REOPENED: changeWarning(
    'A final order is open again.',
    'Do not rely on its earlier result. order-sync follows the order again.',
  ),
  LEG_CONFLICT: stateWarning(
    'The order is final, but only one of its two transactions has begun.',
    'Ask the exchange whether both sides were paid.',
  ),
  SILENT_CHANGE: changeWarning(
    'Fields of the order changed, but its modification date stayed the same.',
    'Compare the old value with the new one. order-sync keeps the new one.',
  ),
  TERMS_CHANGED: changeWarning(
    'The percent, reward or fee changed after the order was made.',
    'Compare the new terms with the terms that were agreed.',
  ),
  COMPLETION_INCONSISTENT: stateWarning(
    'The dates of the order contradict each other or its status.',
    'Ask the exchange which of the dates is right.',
  ),
  CLOCK_SKEW: stateWarning(
    'The clocks of the exchange and of this machine differ by more than five minutes.',
    'Check the time service of this machine.',
  ),
  RATE_INCONSISTENT: stateInfo(
    'The input amount, output amount and ratio of the order do not agree with each other.',
    'Check whether rounding or the fee explains the difference.',
  ),
  STATUS_UNMAPPED: stateInfo(
    'The status of the order is neither documented nor in follow.finalStatuses or follow.openStatuses.',
    'Ask the exchange what the status means, and add it to one of the two settings.',
  ),
  REPLICAS_DISAGREE: changeInfo(
    'The exchange sent an older record again, or alternates between two records of the same date. Each further time is counted.',
    'Report it to the exchange if it goes on. Our record was not changed.',
  ),
};

export type FindingClassName = keyof typeof FINDING_CLASSES;

/** The classes that `reconcile.ignore` may name, because the interface does not require the two values to be equal. */
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

const CLASS_NAMES = Object.keys(FINDING_CLASSES);

/** The place of a finding in every list. An unknown severity or class comes first, because it may be of an error. */
export function placeOfFinding(severity: string, name: string): number {
  const weight = Math.max(0, (SEVERITIES as readonly string[]).indexOf(severity));
  return weight * (CLASS_NAMES.length + 1) + CLASS_NAMES.indexOf(name);
}

export function severityOf(name: string): Severity | null {
  return findingClass(name)?.severity ?? null;
}
