/** Each state of an order, and the states that may follow it. */
export const ALLOWED_NEXT = {
  // A pending order becomes open or final only if it may have been sent, or was adopted. A pending, rejected or invalid
  // order becomes unknown only if the record of its create may be lost.
  pending: ['sending', 'invalid', 'cancelled', 'open', 'final', 'disputed', 'unknown'],
  sending: ['accepted', 'rejected', 'pending', 'unknown'],
  unknown: ['open', 'final', 'disputed', 'held'],
  held: ['open', 'final', 'disputed', 'accepted', 'pending', 'abandoned'],
  accepted: ['open', 'final', 'disputed', 'abandoned'],
  open: ['final', 'disputed'],
  disputed: ['open', 'final', 'abandoned'],
  final: ['open', 'disputed'],
  rejected: ['pending', 'open', 'final', 'disputed', 'unknown'],
  invalid: ['pending', 'unknown'],
  cancelled: ['open', 'final', 'disputed'],
  abandoned: ['open', 'final', 'disputed'],
} as const satisfies Record<string, readonly string[]>;

export type OrderState = keyof typeof ALLOWED_NEXT;

/** Every state, in the sequence in which an order may pass through the states. */
export const ORDER_STATES = Object.keys(ALLOWED_NEXT) as readonly OrderState[];

const states = <const States extends readonly OrderState[]>(...some: States) => some;

export const WAITING_STATES = states('pending', 'sending', 'unknown', 'held', 'accepted', 'open', 'disputed');

/** States of orders that are looked up until the orders end. A full `sync` looks up all of these orders, due or not. */
export const FOLLOWED_STATES = states('unknown', 'accepted', 'open', 'disputed', 'held');

/** States whose orders are looked up at the pace of the account. Orders of other states have their own schedules. */
export const PACED_STATES = states('accepted', 'open', 'disputed');

/** States that need a person, unless the exchange shows something new. */
export const ATTENTION_STATES = states('held', 'disputed');

/** States of orders that have ended and are looked up a few times more, as `nextRecheckAt` says. */
export const RECHECKED_STATES = states('final', 'rejected', 'cancelled', 'abandoned');

export function isPaced(state: string): boolean {
  return (PACED_STATES as readonly string[]).includes(state);
}

export function isRechecked(state: string): boolean {
  return (RECHECKED_STATES as readonly string[]).includes(state);
}

export function isAllowedMove(from: OrderState, to: OrderState): boolean {
  return (ALLOWED_NEXT[from] as readonly OrderState[]).includes(to);
}
