import { withJitter } from '../domain/orders/schedule.ts';

/**
 * The health of the exchange as one request shows it. It answered, whatever it said. It failed: no whole answer came, or
 * a 5xx. It was out of reach: no connection was made, so that nothing left. Nothing is shown by a request that was never
 * tried, and by a reply that speaks of the account (429, 401, 403): its holds take care of that.
 */
export type Health = 'answered' | 'failed' | 'unreachable' | 'nothing';

/** The lanes that have a circuit breaker. */
export const BREAKER_LANES = ['create', 'lookup'] as const;
export type BreakerLane = (typeof BREAKER_LANES)[number];

/** Different subjects that fail in a row before the breaker opens. */
export const FAILURES_TO_OPEN = 3;
const FIRST_OPEN_MS = 1_000;
const LONGEST_OPEN_MS = 5 * 60_000;
/** Each create that fails may be a pre-order that nobody knows of. */
const LONGEST_CREATE_OPEN_MS = 15 * 60_000;

/**
 * A circuit breaker. It is closed while `openUntil` is 0, open until that moment of monotonic time, and half-open from
 * then until an answer shows how the exchange does.
 */
export interface BreakerState {
  /** The latest subjects that failed since a request was answered, each once; no more than it takes to open. */
  readonly failed: readonly string[];
  /** The number of times that it opened since it was last closed, without those after failed probes. */
  readonly openings: number;
  /** The number of times that it ever opened. */
  readonly openingsEver: number;
  readonly openUntil: number;
  /** A look-up must be answered before the next create: one that failed may have been taken. */
  readonly needsProbe: boolean;
  /** Look-ups in a row that were to show whether creates may go again, and failed. */
  readonly failedProbes: number;
  /** Creates that may be in flight together while it is closed; grows by one with each that is answered. */
  readonly width: number;
}

/** Requests flow; creates begin with one at a time. */
export const CLOSED: BreakerState = {
  failed: [],
  openings: 0,
  openingsEver: 0,
  openUntil: 0,
  needsProbe: false,
  failedProbes: 0,
  width: 1,
};

/** A request of the breaker's lane that has ended. */
export interface EndedRequest {
  readonly lane: BreakerLane;
  /** The order or link that it was about. */
  readonly subject: string;
  readonly health: Health;
}

/**
 * The state after one more request of the lane. An outage must not turn a backlog into unknown outcomes, nor fill the
 * history with attempts: the breaker opens after three different subjects have failed in a row, so that one order that
 * alone fails opens nothing; at once where the exchange is out of reach. It opens for 1 s, doubling to 5 min, after failed
 * creates to 15 min. `random` is in [0, 1).
 */
export function nextBreaker(state: BreakerState, request: EndedRequest, now: number, random: number): BreakerState {
  const { lane, subject, health } = request;
  if (health === 'nothing') return state;
  const isOpen = state.openUntil > now;
  // A request that was in flight when the breaker opened must not close it: the exchange may have asked to wait since.
  if (health === 'answered')
    return isOpen ? state : { ...CLOSED, openingsEver: state.openingsEver, width: state.width + 1 };
  const hasFailed = health === 'failed';
  if (hasFailed && state.failed.includes(subject)) return state;
  const failed = hasFailed ? [...state.failed, subject].slice(-FAILURES_TO_OPEN) : state.failed;
  const isTaken = hasFailed && lane === 'create';
  const next = { ...state, failed, needsProbe: state.needsProbe || isTaken };
  // Nor must it double the time.
  if (isOpen) return next;
  const isClosed = state.openUntil === 0;
  if (hasFailed && isClosed && failed.length < FAILURES_TO_OPEN) return { ...state, failed };
  const openMs = openingMs(state.openings, isTaken ? LONGEST_CREATE_OPEN_MS : LONGEST_OPEN_MS, random);
  return {
    ...next,
    openings: state.openings + 1,
    openingsEver: state.openingsEver + 1,
    openUntil: now + openMs,
    width: 1,
  };
}

/**
 * The state of the creates' breaker after a look-up that was to show whether the exchange serves again. Where it was
 * answered, one create may go; only when that is answered too the breaker closes and forgets how often it opened.
 */
export function afterProbe(state: BreakerState, health: Health, now: number, random: number): BreakerState {
  if (!state.needsProbe || state.openUntil > now) return state;
  if (health === 'answered') return { ...state, needsProbe: false, failedProbes: 0 };
  if (health !== 'failed' && health !== 'unreachable') return state;
  return {
    ...state,
    failedProbes: state.failedProbes + 1,
    openingsEver: state.openingsEver + 1,
    openUntil: now + openingMs(state.failedProbes, LONGEST_OPEN_MS, random),
  };
}

/** The most requests of a lane that may be in flight together: while the breaker is half-open, one. */
export function mostInFlight(state: BreakerState, lane: BreakerLane): number {
  if (state.openUntil > 0) return 1;
  return lane === 'create' ? state.width : Number.POSITIVE_INFINITY;
}

function openingMs(openingsBefore: number, longestMs: number, random: number): number {
  return withJitter(Math.min(FIRST_OPEN_MS * 2 ** Math.min(openingsBefore, 12), longestMs), random);
}
