import { withJitter } from '../domain/orders/schedule.ts';

/** What a request says about the health of what it goes to; `none` when it says nothing. */
export type Health = 'answered' | 'failed' | 'refused-for-now' | 'none';

/** Failures in a row after which requests are held back. */
export const FAILURES_TO_HOLD = 3;
const FIRST_HOLD_MS = 1_000;
const LONGEST_HOLD_MS = 5 * 60_000;

/** Requests flow, or are held until a moment of monotonic time; then one goes ahead as a probe. */
export interface BreakerState {
  readonly failures: number;
  readonly holds: number;
  readonly heldUntil: number;
}

/** Requests flow. */
export const CLOSED: BreakerState = { failures: 0, holds: 0, heldUntil: 0 };

/**
 * The state after one more request. An outage must not turn a backlog into unknown outcomes, nor fill the history with
 * attempts: after three failures in a row, or at once where the exchange or the network says "not now", requests are
 * held for 1 s, doubling to 5 min, and each hold ends with a single probe.
 */
export function nextBreaker(
  state: BreakerState,
  health: Health,
  now: number,
  random: number,
  holdMs = 0,
): BreakerState {
  if (health === 'none') return state;
  // What was in flight when a hold began must not end it: the exchange may have asked for the hold since.
  if (health === 'answered') return state.heldUntil > now ? state : CLOSED;
  const failures = state.failures + 1;
  const mustHold = health === 'refused-for-now' || failures >= FAILURES_TO_HOLD;
  if (!mustHold) return { ...state, failures };
  // Nor must it lengthen the hold.
  if (state.heldUntil > now) return { ...state, failures, heldUntil: Math.max(state.heldUntil, now + holdMs) };
  const backoffMs = withJitter(Math.min(FIRST_HOLD_MS * 2 ** Math.min(state.holds, 12), LONGEST_HOLD_MS), random);
  return { failures, holds: state.holds + 1, heldUntil: now + Math.max(holdMs, backoffMs) };
}
