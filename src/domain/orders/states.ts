/** The states of an order and the moves between them. Nothing else in the program decides a move. */
export const ALLOWED_NEXT = {
  // To open or final only what was sent before: a look-up was under way when a person had it sent again.
  pending: ['sending', 'invalid', 'cancelled', 'open', 'final'],
  sending: ['accepted', 'rejected', 'pending', 'unknown'],
  unknown: ['open', 'final', 'held'],
  held: ['open', 'final', 'accepted', 'pending', 'abandoned'],
  accepted: ['open', 'final', 'abandoned'],
  open: ['final'],
  final: ['open'],
  rejected: ['pending'],
  invalid: ['pending'],
  cancelled: ['open', 'final'],
  abandoned: ['open', 'final'],
} as const satisfies Record<string, readonly string[]>;

/** Where an order stands; docs/architecture.md draws the moves. */
export type OrderState = keyof typeof ALLOWED_NEXT;

/** Every state, in the order in which an order passes through them. */
export const ORDER_STATES = Object.keys(ALLOWED_NEXT) as readonly OrderState[];

/** States whose orders are looked up until they are final: the pass of `sync` looks up each of them once. */
export const FOLLOWED_STATES = ['unknown', 'accepted', 'open', 'held'] as const satisfies readonly OrderState[];

/** States that are looked up again a few times only, at `follow.recheckFinalAfter`. */
export const RECHECKED_STATES = ['final', 'cancelled', 'abandoned'] as const satisfies readonly OrderState[];

/** Whether the table of moves lets an order go from one state to another. */
export function isAllowedMove(from: OrderState, to: OrderState): boolean {
  return (ALLOWED_NEXT[from] as readonly OrderState[]).includes(to);
}

/** Throws on a move that is not in the table: a bug, never an answer of the exchange. */
export function assertAllowedMove(from: OrderState, to: OrderState, externalOrderId: string): void {
  if (!isAllowedMove(from, to)) {
    throw new Error(`order ${JSON.stringify(externalOrderId)} may not go from ${from} to ${to}`);
  }
}
