/** What a hold stops: creates, or the look-ups of orders and links. */
export type HeldLane = 'create' | 'lookup';

/**
 * The kinds of holds, and what each stops. A person pauses creates or everything; `restored` stands after a database that
 * was put back to an older state was accepted. The exchange asks to wait (`rate-limited`: 429, or Retry-After with 503),
 * refuses the key (401), or refuses the account a create (`forbidden`: documented 403). `slowed` lets one create an hour
 * go, as the last ones all had unknown outcomes.
 */
const STOPS = {
  'creates-paused': ['create'],
  'all-paused': ['create', 'lookup'],
  restored: ['create'],
  'rate-limited': ['create', 'lookup'],
  'key-refused': ['create', 'lookup'],
  forbidden: ['create'],
  slowed: ['create'],
} as const satisfies Record<string, readonly HeldLane[]>;

/** The kind of a hold; an account has one of each at the most. */
export type HoldKind = keyof typeof STOPS;

/** The holds that `order-sync resume` ends. The others end when the exchange takes a request. */
export const RESUMED_HOLDS: readonly HoldKind[] = ['creates-paused', 'all-paused', 'restored', 'slowed'];

/** A reason for which an account sends nothing of a kind, or one request at a time. */
export interface Hold {
  readonly kind: HoldKind;
  readonly since: Date;
  /** From then on one request at a time goes, to see whether the hold is over; null: until a person ends it. */
  readonly until: Date | null;
  readonly reason: string;
  /** The person who set it. */
  readonly actor: string | null;
}

/** The decision about requests of a lane: they go, one at a time goes to see whether the hold is over, or none goes. */
export type SendingDecision =
  | { readonly kind: 'free' }
  | { readonly kind: 'probe'; readonly hold: Hold }
  | { readonly kind: 'held'; readonly hold: Hold };

/** Tells whether a hold stops requests of a lane. */
function stops({ kind }: Pick<Hold, 'kind'>, lane: HeldLane): boolean {
  return (STOPS[kind] as readonly HeldLane[]).includes(lane);
}

/** Decides from an account's holds whether requests of a lane may go. The hold that lasts longest decides. */
export function decideSending(holds: readonly Hold[], lane: HeldLane, now: Date): SendingDecision {
  const [longest] = holds.filter((hold) => stops(hold, lane)).toSorted((a, b) => endOf(b) - endOf(a));
  if (longest === undefined) return { kind: 'free' };
  return endOf(longest) > now.getTime() ? { kind: 'held', hold: longest } : { kind: 'probe', hold: longest };
}

function endOf({ until }: Hold): number {
  return until?.getTime() ?? Number.POSITIVE_INFINITY;
}
