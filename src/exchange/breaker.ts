import { withJitter } from '../domain/orders/schedule.ts';

/**
 * The health of the exchange as one request shows it: it serves, it failed, or it serves nobody for now (429, 401, no
 * connection). A request that never left shows nothing.
 */
export type Health = 'answered' | 'failed' | 'refused-for-now' | 'nothing';

/** Failures in a row after which the breaker opens. */
export const FAILURES_TO_OPEN = 3;
const FIRST_OPEN_MS = 1_000;
const LONGEST_OPEN_MS = 5 * 60_000;

/**
 * A circuit breaker. It is closed while `openUntil` is 0, open until that moment of monotonic time, and half-open from
 * then until a probe shows how the exchange does.
 */
export interface BreakerState {
  /** In a row. */
  readonly failures: number;
  /** The number of times that it opened since it was last closed. */
  readonly openings: number;
  /** The number of times that it ever opened. */
  readonly openingsEver: number;
  readonly openUntil: number;
}

/** Requests flow. */
export const CLOSED: BreakerState = { failures: 0, openings: 0, openingsEver: 0, openUntil: 0 };

/**
 * The state after one more request. An outage must not turn a backlog into unknown outcomes, nor fill the history with
 * attempts: after three failures in a row, or at once where the exchange serves nobody for now, the breaker opens for
 * 1 s, doubling to 5 min, or for `retryAfterMs` where that is longer.
 */
export function nextBreaker(
  state: BreakerState,
  health: Health,
  now: number,
  random: number,
  retryAfterMs = 0,
): BreakerState {
  if (health === 'nothing') return state;
  const isOpen = state.openUntil > now;
  // A request that was in flight when the breaker opened must not close it: the exchange may have asked to wait since.
  if (health === 'answered') return isOpen ? state : { ...CLOSED, openingsEver: state.openingsEver };
  const failures = state.failures + 1;
  if (health === 'failed' && failures < FAILURES_TO_OPEN) return { ...state, failures };
  // Nor must it double the time.
  if (isOpen) return { ...state, failures, openUntil: Math.max(state.openUntil, now + retryAfterMs) };
  const backoffMs = withJitter(Math.min(FIRST_OPEN_MS * 2 ** Math.min(state.openings, 12), LONGEST_OPEN_MS), random);
  return {
    failures,
    openings: state.openings + 1,
    openingsEver: state.openingsEver + 1,
    openUntil: now + Math.max(retryAfterMs, backoffMs),
  };
}
