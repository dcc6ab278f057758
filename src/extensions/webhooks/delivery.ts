import { after } from '../../base/instant.ts';
import { subjectKindOf, type EventRow, type EventType, type SubjectKind } from '../feed/event.ts';

export type DeliveryOutcome =
  | { readonly kind: 'taken' }
  | {
      readonly kind: 'unavailable';
      readonly cause: string;
      readonly retryAfterMs?: number;
      /** The HTTP status, or 0 without an answer. Present if the event itself may be the cause. */
      readonly status?: number;
    }
  /** The endpoint refuses this event, or every event. The answers to other events show which. */
  | { readonly kind: 'refused'; readonly status: number };

const MINUTE_MS = 60_000;
const FIRST_TRY_AGAIN_MS = 5_000;
const LAST_TRY_AGAIN_MS = 60 * MINUTE_MS;

const PASSING_STATUSES: readonly number[] = [408, 429];

/** The waits before the retries of a refused event, in ms; together 24 h. */
const RETRY_WAITS_MS = [1, 4, 10, 15, 30, 60, 120, 240, 360, 600].map((minutes) => minutes * MINUTE_MS);

/** If this many events in a row were refused, the next refusal is a failure of the endpoint as a whole. */
export const MOST_REFUSED_IN_A_ROW = 10;

export function outcomeOf(status: number, retryAfterMs?: number): DeliveryOutcome {
  if (status >= 200 && status < 300) return { kind: 'taken' };
  if (status >= 400 && status < 500 && !PASSING_STATUSES.includes(status)) return { kind: 'refused', status };
  const asked = retryAfterMs !== undefined && { retryAfterMs };
  return { kind: 'unavailable', cause: `it answers ${status}`, ...asked, ...(status >= 500 && { status }) };
}

/** Returns the wait in ms after `tries` failures, or the longer wait that the endpoint asks for; at most an hour. */
export function endpointWaitMs(tries: number, retryAfterMs = 0): number {
  const usual = FIRST_TRY_AGAIN_MS * 2 ** Math.min(Math.max(tries, 1) - 1, 20);
  return Math.min(Math.max(usual, retryAfterMs), LAST_TRY_AGAIN_MS);
}

/** A list of types of events, or of their beginnings such as `order.*`; empty for all. */
export type EventFilter = readonly string[];

export function takesType(filter: EventFilter, type: EventType): boolean {
  return (
    filter.length === 0 ||
    filter.some((one) => one === type || (one.endsWith('.*') && type.startsWith(one.slice(0, -1))))
  );
}

/** `behind`: an earlier event of the same order, link or account comes first. `delivered`: an accepted dead letter. */
export type DeliveryStatus = 'waiting' | 'behind' | 'retrying' | 'dead' | 'delivered';

/** A row of `webhook_deliveries`: an event that the endpoint's cursor passed before the endpoint accepted the event. */
export interface Delivery {
  readonly endpoint: string;
  readonly account: string;
  readonly event_id: number;
  readonly kind: SubjectKind;
  readonly subject: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  /** When the event is due, or `AT_ONCE`; null unless the status is `waiting` or `retrying`. */
  readonly next_attempt_at: string | null;
  readonly failed_at: string | null;
  /** The HTTP status of the last refusal; 0 if there was no refusal, or no answer. */
  readonly answer: number;
  /** When the event became `retrying`, `dead` or `delivered`; until then, when order-sync observed the event. */
  readonly since: string;
}

/** The `next_attempt_at` of an event that is due at once. It is less than any time, whatever a clock shows. */
export const AT_ONCE = '';

export function newDelivery(endpoint: string, event: EventRow, status: 'waiting' | 'behind'): Delivery {
  return {
    endpoint,
    account: event.account,
    event_id: event.id,
    kind: subjectKindOf(event.type),
    subject: event.subject,
    status,
    attempts: 0,
    next_attempt_at: status === 'waiting' ? AT_ONCE : null,
    failed_at: null,
    answer: 0,
    since: event.observed_at,
  };
}

/** `isFull`: the endpoint has `MOST_RETRYING` retried events already, so no further refused event is retried. */
type AttemptFacts = Readonly<{ now: Date; takenAt: Date | null; isFull: boolean }>;

/** True if the endpoint failed at this event before, and has accepted other events since. */
export function isAtFault({ failed_at }: Pick<Delivery, 'failed_at'>, takenAt: Date | null): boolean {
  return failed_at !== null && takenAt !== null && takenAt.toISOString() >= failed_at;
}

export function afterFailure(delivery: Delivery, now: Date): Delivery {
  const at = now.toISOString();
  return { ...delivery, failed_at: at, next_attempt_at: delivery.status === 'retrying' ? at : AT_ONCE };
}

/** Returns the row after a refusal. The last wait repeats until the endpoint has accepted another event. */
export function afterRefusal(delivery: Delivery, answer: number, { now, takenAt, isFull }: AttemptFacts): Delivery {
  const attempts = delivery.attempts + 1;
  const at = now.toISOString();
  const since = delivery.status === 'retrying' ? delivery.since : at;
  const refused = { ...delivery, attempts, answer, failed_at: at };
  const isLast = takenAt !== null && takenAt.toISOString() >= since;
  const waitMs = RETRY_WAITS_MS[attempts - 1] ?? (isLast ? undefined : RETRY_WAITS_MS.at(-1));
  if (waitMs === undefined || (isFull && delivery.status === 'waiting'))
    return { ...refused, status: 'dead', next_attempt_at: null, since: at };
  return { ...refused, status: 'retrying', next_attempt_at: after(now, waitMs).toISOString(), since };
}
