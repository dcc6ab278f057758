import { FINDING_CLASSES, SEVERITIES, type FindingClassName } from '../../findings/rules/classes.ts';

/** The advice on CREATE_UNKNOWN for a held order. */
export const ASK_ABOUT_HELD =
  'ask the exchange about the external order id, then record its answer with a command that order-sync orders explain ORDER shows.';

/** The question about our own pre-order, for a text that does not name the pre-order's id. */
export const QUESTION_OF_OWN = 'whether it has your own pre-order, and what happens to that pre-order';

export function questionOfOwn(preOrderId: string | null): string {
  return preOrderId === null ? QUESTION_OF_OWN : `what happens to your own pre-order ${preOrderId}`;
}

/** The manual, the reports and `report explain` show these texts. */
const CLASS_TEXTS: Readonly<Record<FindingClassName, { readonly meaning: string; readonly advice: string }>> = {
  FAIL_OVER: {
    meaning:
      'A standby of the database took over, and it may lack the last commits. Orders may have been sent without a record.',
    advice:
      'Ask the exchange about the orders that order-sync orders list --state unknown shows, then record its answer with order-sync db accept-restore, as the reason of each of these orders says.',
  },
  CREATE_UNKNOWN: {
    meaning: 'The order was sent, and it is not known whether the exchange took it.',
    advice: `While the order is unknown, order-sync looks it up by itself: wait. If it is held, ${ASK_ABOUT_HELD}`,
  },
  ADDRESS_CHANGED: {
    meaning: 'A crypto address of the order changed after the order was made.',
    advice: 'Do not pay to the new address until the exchange has confirmed it through another channel.',
  },
  ADDRESS_MISMATCH: {
    meaning: 'The external crypto address of the order at the exchange differs from the one that we sent.',
    advice: 'Do not pay to the address at the exchange until the exchange has confirmed it through another channel.',
  },
  PAYMENT_ROUTE_MISMATCH: {
    meaning: 'The payment token or provider of the fiat transaction differs from the one that we sent.',
    advice: 'Check that the payout goes to the right client.',
  },
  AMOUNT_MISMATCH: {
    meaning: 'The amount of the order at the exchange differs from ours.',
    advice:
      'If the order at the exchange is yours, compare both amounts with the pre-order, and settle the difference with the exchange.',
  },
  PAIR_MISMATCH: {
    meaning: 'The currency pair of the order at the exchange differs from ours.',
    advice: 'If the order at the exchange is yours, ask the exchange to correct it before money moves.',
  },
  ID_COLLISION: {
    meaning: 'The order at the exchange is older than our first request, so it is another order with the same id.',
    advice: `Do not pay or deliver for this order. If it is not yours, first ask the exchange ${QUESTION_OF_OWN}. Then run order-sync orders resolve ORDER --as abandoned --reason TEXT, and insert your order again under a new id. If it is yours after all, run order-sync orders resolve ORDER --as ours --reason TEXT.`,
  },
  IDENTITY_MISMATCH: {
    meaning: 'The exchange was asked about one external order id and answered about another.',
    advice:
      'Report both ids to the exchange. If only the spelling of the ids differs, the order is disputed. Otherwise the answer was not used.',
  },
  MERCHANT_MISMATCH: {
    meaning: 'The order belongs to another merchant than the first order of this account.',
    advice: 'Check that the API key belongs to the right merchant account.',
  },
  UNEXPECTED_ORDER: {
    meaning: 'The exchange has an order, but ours was rejected, cancelled, abandoned or never sent.',
    advice: 'Find out who made the order. order-sync follows it from now on.',
  },
  ORDER_REPLACED: {
    meaning: 'The exchange now shows another order (id or number) for this external order id.',
    advice: 'Ask the exchange for the reason, and compare the amounts of both orders.',
  },
  ORDER_REUSED: {
    meaning: 'The exchange shows the same order for several of our orders.',
    advice: 'Ask the exchange which of our orders it belongs to, and do not count it twice.',
  },
  ORDER_VANISHED: {
    meaning: 'The exchange no longer finds an order that it has shown before.',
    advice: 'Ask the exchange what happened to the order. Our newest record of it is kept.',
  },
  TX_HASH_CHANGED: {
    meaning: 'The hash of the crypto transaction changed after it was set.',
    advice: 'Check both transactions on the blockchain.',
  },
  TX_HASH_REUSED: {
    meaning: 'The exchange shows the same crypto transaction for several orders.',
    advice: 'Check on the blockchain which of the orders the transaction paid.',
  },
  LEG_CURRENCY_MISMATCH: {
    meaning: 'The crypto transaction and the fiat transaction are not in the two currencies of the pair.',
    advice: 'Ask the exchange which transactions belong to the order.',
  },
  TYPE_MISMATCH: {
    meaning: 'The order type differs from ours, or the exchange type differs from that of the pre-order.',
    advice: 'If the order at the exchange is yours, ask the exchange to correct it.',
  },
  PREORDER_MISSING: {
    meaning: 'The exchange no longer knows a pre-order that it had accepted.',
    advice: 'Ask the exchange what happened to the pre-order, and name its id.',
  },
  PREORDER_REUSED: {
    meaning: 'The exchange answered a create with a pre-order that belongs to another order already.',
    advice: 'Ask the exchange which of the two orders the pre-order belongs to, and do not count it twice.',
  },
  PREORDER_ECHO_MISMATCH: {
    meaning: 'The pre-order that the exchange returned differs from the order that was sent.',
    advice:
      'Compare the two with order-sync orders show ORDER, and ask the exchange to correct or cancel the pre-order before the client takes it up.',
  },
  PREORDER_TOKEN_MISMATCH: {
    meaning: 'The payment token of the pre-order that the exchange returned differs from the one that was sent.',
    advice: 'Ask the exchange whether it returns the token of the request or one of its own.',
  },
  UNCHECKED: {
    meaning: 'The order was never looked up successfully, was last looked up too long ago, or cannot be compared.',
    advice: 'Run order-sync sync. If the record is too old or has no amount, ask the exchange.',
  },
  ORDER_MISSING: {
    meaning: 'The exchange accepted the pre-order long ago, but has shown no order.',
    advice:
      'Ask the client for whom you placed the order whether the pre-order was taken up. If it certainly was not, end it with order-sync orders resolve ORDER --as abandoned --reason TEXT.',
  },
  STUCK: {
    meaning: 'The order has not changed for longer than orders usually take.',
    advice: 'Ask the exchange or the client what the order is waiting for.',
  },
  TERMINAL_REOPENED: {
    meaning: 'A final order is open again.',
    advice: 'Do not rely on its earlier result. order-sync follows the order again.',
  },
  LEG_CONFLICT: {
    meaning: 'The order is final, but only one of its two transactions has begun.',
    advice: 'Ask the exchange whether both sides were paid.',
  },
  SILENT_CHANGE: {
    meaning: 'Fields of the order changed, but its modification date stayed the same.',
    advice: 'Compare the old value with the new one. order-sync keeps the new one.',
  },
  TERMS_CHANGED: {
    meaning: 'The percent, reward or fee changed after the order was made.',
    advice: 'Compare the new terms with the terms that were agreed.',
  },
  COMPLETION_INCONSISTENT: {
    meaning: 'The dates of the order contradict each other or its status.',
    advice: 'Ask the exchange which of the dates is right.',
  },
  CLOCK_SKEW: {
    meaning: 'The clocks of the exchange and of this machine differ by more than five minutes.',
    advice: 'Check the time service of this machine.',
  },
  RATE_INCONSISTENT: {
    meaning: 'The input amount, output amount and ratio of the order do not agree with each other.',
    advice: 'Check whether rounding or the fee explains the difference.',
  },
  STATUS_UNMAPPED: {
    meaning: 'The status of the order is neither documented nor in follow.finalStatuses or follow.openStatuses.',
    advice: 'Ask the exchange what the status means, and add it to one of the two settings.',
  },
  REPLICAS_DISAGREE: {
    meaning:
      'The exchange sent an older record again, or alternates between two records of the same date. Each repetition is counted.',
    advice: 'If it continues, report it to the exchange. Our record was not changed.',
  },
};

export function classTexts(name: FindingClassName) {
  return { ...FINDING_CLASSES[name], ...CLASS_TEXTS[name] };
}

/** Returns undefined for a class that only another version of the program has. */
export function findingClass(name: string): ReturnType<typeof classTexts> | undefined {
  return Object.hasOwn(FINDING_CLASSES, name) ? classTexts(name as FindingClassName) : undefined;
}

export const CLASSES = Object.keys(FINDING_CLASSES) as readonly FindingClassName[];

/** Returns the rank of a finding in reports. An unknown severity counts as `error`, because it may be as grave. */
export function placeOfFinding(severity: string, name: string): number {
  const weight = Math.max(0, (SEVERITIES as readonly string[]).indexOf(severity));
  return weight * (CLASSES.length + 1) + CLASSES.findIndex((one) => one === name);
}
