import { OUTAGE_LOOKUP_MS, withJitter } from '../../orders/rules/schedule.ts';

/** `failed`: no whole answer came, or a 5xx. `nothing`: the request was never tried, or its reply is about the account (429, 401, 403). */
export type Health = 'answered' | 'failed' | 'unreachable' | 'nothing';

export const BREAKER_LANES = ['create', 'lookup'] as const;
export type BreakerLane = (typeof BREAKER_LANES)[number];

/** Different subjects that fail in a row before the breaker opens. */
export const FAILURES_TO_OPEN = 3;
const FIRST_OPEN_MS = 1_000;

/** Closed while `openUntil` is 0, open until that monotonic time, and half-open from then until an answer comes. */
export interface BreakerState {
  /** The latest subjects that failed since a request was answered, each once; no more than it takes to open. */
  readonly failed: readonly string[];
  /** Since it was last closed, without those after failed probes. */
  readonly openings: number;
  readonly openingsEver: number;
  readonly openUntil: number;
  /** When it last opened. Requests that began by then fail for the same reason: they decide nothing more. */
  readonly openedAt: number;
  /** A look-up, which creates nothing, must be answered before the next create: a failed create may be taken. */
  readonly needsProbe: boolean;
  /** Look-ups in a row that were to show whether creates may go again, and failed. */
  readonly failedProbes: number;
  /** Creates that may be in flight together while it is closed; grows by one with each that is answered. */
  readonly width: number;
}

export const CLOSED: BreakerState = {
  failed: [],
  openings: 0,
  openingsEver: 0,
  openUntil: 0,
  openedAt: Number.NEGATIVE_INFINITY,
  needsProbe: false,
  failedProbes: 0,
  width: 1,
};

export interface EndedRequest {
  readonly lane: BreakerLane;
  readonly subject: string;
  readonly health: Health;
  readonly startedAt: number;
}

/**
 * Opens after three different subjects have failed in a row, so that one order alone opens nothing, or at once if the
 * exchange is out of reach; for 1 s, doubling to 10 s.
 */
export function nextBreaker(
  state: BreakerState,
  request: EndedRequest,
  now: number,
  random: number,
  failuresToOpen = FAILURES_TO_OPEN,
): BreakerState {
  const { lane, subject, health, startedAt } = request;
  if (health === 'nothing') return state;
  const { openingsEver, openedAt, openUntil } = state;
  // A late request neither closes the breaker (the exchange may have asked to wait since) nor doubles the time.
  const isLate = openUntil > now || startedAt <= openedAt;
  if (health === 'answered') return isLate ? state : { ...CLOSED, openingsEver, openedAt, width: state.width + 1 };
  const hasFailed = health === 'failed';
  const isClosed = openUntil === 0;
  if (hasFailed && (state.failed.includes(subject) || (isLate && isClosed))) return state;
  const failed = hasFailed ? [...state.failed, subject].slice(-FAILURES_TO_OPEN) : state.failed;
  if (isLate || (hasFailed && isClosed && failed.length < failuresToOpen)) return { ...state, failed };
  return {
    ...state,
    failed,
    needsProbe: lane === 'create',
    openings: state.openings + 1,
    openingsEver: openingsEver + 1,
    openedAt: now,
    openUntil: now + openingMs(state.openings, now - startedAt, random),
    width: 1,
  };
}

export type EndedProbe = Pick<EndedRequest, 'health' | 'startedAt'>;

/** If a probe is answered, one create may go. A failed look-up is enough if creates failed only because they did not reach the exchange. */
export function afterProbe(state: BreakerState, { health, startedAt }: EndedProbe, now: number, random: number) {
  if (!state.needsProbe || state.openUntil > now) return state;
  const isReached = health === 'answered' || (health === 'failed' && state.failed.length === 0);
  if (isReached) return { ...state, needsProbe: false, failedProbes: 0 };
  if (health === 'nothing') return state;
  return {
    ...state,
    failedProbes: state.failedProbes + 1,
    openingsEver: state.openingsEver + 1,
    openUntil: now + openingMs(state.failedProbes, now - startedAt, random),
  };
}

/** The most requests of a lane in flight: one while half-open. A failed create keeps its place until a create is answered. */
export function mostInFlight(state: BreakerState, lane: BreakerLane, concurrency: number): number {
  if (state.openUntil > 0) return 1;
  return lane === 'create' ? Math.max(1, Math.min(state.width, concurrency) - state.failed.length) : concurrency;
}

/** The time that the request took counts: the breaker is open for the rest, and for a moment at the least. */
function openingMs(openingsBefore: number, tookMs: number, random: number): number {
  const fullMs = Math.min(withJitter(FIRST_OPEN_MS * 2 ** Math.min(openingsBefore, 12), random), OUTAGE_LOOKUP_MS);
  return Math.max(withJitter(FIRST_OPEN_MS, random), fullMs - tookMs);
}
