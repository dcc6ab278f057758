import { OUTAGE_LOOKUP_MS, withJitter } from '../../orders/rules/schedule.ts';

/**
 * `unreachable`: the request never left. `failed`: no whole answer, 5xx, or a documented 403 (except to a create).
 * `nothing`: the request was not tried, or the answer was 401, 429, or a documented 403 to a create.
 */
export type Health = 'answered' | 'failed' | 'unreachable' | 'nothing';

export const BREAKER_LANES = ['create', 'lookup'] as const;
export type BreakerLane = (typeof BREAKER_LANES)[number];

/** At most this many different subjects (orders or links) fail in a row before the breaker opens. */
export const FAILURES_TO_OPEN = 3;
const FIRST_OPEN_MS = 1_000;

export const CLOSED = {
  /** The latest subjects that failed since a request was answered, each once: `FAILURES_TO_OPEN` at most. */
  failed: [] as readonly string[],
  /** Openings since an answer closed the breaker. Openings after failed probes count in `failedProbes`. */
  openings: 0,
  openingsEver: 0,
  openUntil: 0,
  /** When `nextBreaker` last opened the breaker. Earlier requests fail for the same reason and do not open it again. */
  openedAt: Number.NEGATIVE_INFINITY,
  /** True while a look-up must be answered before the next create, because a failed create may have been taken. */
  needsProbe: false,
  /** How many probes failed in a row. A probe is a look-up that shows if creates may go again. */
  failedProbes: 0,
  /** How many creates may be in flight while the breaker is closed. Grows by one with each answered create. */
  width: 1,
};

/** The breaker is closed while `openUntil` is 0, open until that monotonic time, then half-open until an answer. */
export type BreakerState = Readonly<typeof CLOSED>;

export interface EndedRequest {
  readonly lane: BreakerLane;
  readonly subject: string;
  readonly health: Health;
  readonly startedAt: number;
}

/**
 * Opens the breaker if `failuresToOpen` different subjects fail in a row, because one order alone must not open it. A
 * half-open breaker opens if one more subject fails. An unreachable exchange opens the breaker at once. The breaker
 * stays open for 1 s, then twice as long each time, up to 10 s.
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
  // A late request neither closes the breaker (the exchange may have failed since) nor doubles its open time.
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

/** An answered probe lets one create leave. A `failed` probe does so too, if each failed create was `unreachable`. */
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

/** Returns how many requests of a lane may be in flight. A failed create takes up room until a create is answered. */
export function mostInFlight(state: BreakerState, lane: BreakerLane, concurrency: number): number {
  if (state.openUntil > 0) return 1;
  return lane === 'create' ? Math.max(1, Math.min(state.width, concurrency) - state.failed.length) : concurrency;
}

/** Returns for how many ms the breaker opens: the full time less the time of the request, but at least about 1 s. */
function openingMs(openingsBefore: number, tookMs: number, random: number): number {
  const fullMs = Math.min(withJitter(FIRST_OPEN_MS * 2 ** Math.min(openingsBefore, 12), random), OUTAGE_LOOKUP_MS);
  return Math.max(withJitter(FIRST_OPEN_MS, random), fullMs - tookMs);
}
