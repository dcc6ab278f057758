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
  /** The endpoint refuses this event, or every event: the answers to other events show which. */
  | { readonly kind: 'refused'; readonly status: number };

const MINUTE_MS = 60_000;
const FIRST_TRY_AGAIN_MS = 5_000;
const LAST_TRY_AGAIN_MS = 60 * MINUTE_MS;

const PASSING_STATUSES: readonly number[] = [408, 429];

/** The waits before the retries of a refused event, in ms; together 24 h. */
const RETRY_WAITS_MS = [1, 4, 10, 15, 30, 60, 120, 240, 360, 600].map((minutes) => minutes * MINUTE_MS);

/** After this many refused events without a taken one, the next refusal is a failure of the endpoint as a whole. */
export const MOST_REFUSED_IN_A_ROW = 10;

export function outcomeOf(status: number, retryAfterMs?: number): DeliveryOutcome {
  if (status >= 200 && status < 300) return { kind: 'taken' };
  if (status >= 400 && status < 500 && !PASSING_STATUSES.includes(status)) return { kind: 'refused', status };
  const asked = retryAfterMs !== undefined && { retryAfterMs };
  return { kind: 'unavailable', cause: `it answers ${status}`, ...asked, ...(status >= 500 && { status }) };
}

/** Returns the wait in ms after `tries` failures: at least as long as the endpoint asks for, at most an hour. */
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

/** `behind` waits for an earlier event of its subject. `delivered` is a dead letter that was sent again and taken. */
export type DeliveryStatus = 'waiting' | 'behind' | 'retrying' | 'dead' | 'delivered';

/** A row of `webhook_deliveries`: an event up to an endpoint's cursor that the endpoint did not take in its turn. */
export interface Delivery {
  readonly endpoint: string;
  readonly account: string;
  readonly event_id: number;
  readonly kind: SubjectKind;
  readonly subject: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  /** The time of a retry, or `AT_ONCE`; null unless the event is the next one of its subject. */
  readonly next_attempt_at: string | null;
  readonly failed_at: string | null;
  /** The HTTP status of the last refusal; 0 if there was no answer. */
  readonly answer: number;
  /** When the event got this status. Of an event that was never sent, when it was observed. */
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

/** `isFull` means that the most events are retried at the endpoint already, so no other refused event is retried. */
type AttemptFacts = Readonly<{ now: Date; takenAt: Date | null; isFull: boolean }>;

/** True if the endpoint failed at this event before, and has taken other events since. */
export function isAtFault({ failed_at }: Pick<Delivery, 'failed_at'>, takenAt: Date | null): boolean {
  return failed_at !== null && takenAt !== null && takenAt.toISOString() >= failed_at;
}

export function afterFailure(delivery: Delivery, now: Date): Delivery {
  const at = now.toISOString();
  return { ...delivery, failed_at: at, next_attempt_at: delivery.status === 'retrying' ? at : AT_ONCE };
}

/**
 * Returns the row after a refusal: a retry, or a dead letter after the last attempt or, if `isFull`, after the first.
 */
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
