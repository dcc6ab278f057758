import type { EventRow, EventType } from './feed.ts';

/** What became of sending an event to an endpoint. */
export type DeliveryOutcome =
  | { readonly kind: 'taken' }
  /** The endpoint as a whole cannot take events for now. */
  | {
      readonly kind: 'unavailable';
      readonly cause: string;
      readonly retryAfterMs?: number;
      /** Given where the event may be the cause after all: the status, 0 where there was no answer. */
      readonly status?: number;
    }
  /** The endpoint does not want this event, or none: whether it takes others tells. */
  | { readonly kind: 'refused'; readonly status: number };

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

const FIRST_TRY_AGAIN_MS = 5 * SECOND_MS;
const LAST_TRY_AGAIN_MS = HOUR_MS;

/** Statuses of 4xx that speak of the moment and not of the event: a timeout, and too many requests. */
const PASSING_STATUSES: readonly number[] = [408, 429];

/** The waits before an event that was refused is sent again; together 24 h. */
const PARKED_WAITS_MS: readonly number[] = [
  MINUTE_MS,
  4 * MINUTE_MS,
  10 * MINUTE_MS,
  15 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
  6 * HOUR_MS,
  10 * HOUR_MS,
];

/** So many orders in a row are refused, and none is taken between them, before that is laid to the endpoint as a whole. */
export const MOST_REFUSED_IN_A_ROW = 10;

/** Reads an answer by its status; a redirect is none, as nobody follows it. */
export function outcomeOf(status: number, retryAfterMs?: number): DeliveryOutcome {
  if (status >= 200 && status < 300) return { kind: 'taken' };
  const isOfEvent = status >= 400 && status < 500 && !PASSING_STATUSES.includes(status);
  if (isOfEvent) return { kind: 'refused', status };
  const cause = `it answers ${status}`;
  const mayBeOfEvent = status >= 500;
  return {
    kind: 'unavailable',
    cause,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(mayBeOfEvent && { status }),
  };
}

/** Milliseconds until an endpoint that has failed `tries` times is asked again: what it asks for, up to an hour, and no less than usual. */
export function endpointWaitMs(tries: number, retryAfterMs = 0): number {
  const usual = FIRST_TRY_AGAIN_MS * 2 ** Math.min(Math.max(tries, 1) - 1, 20);
  return Math.min(Math.max(usual, retryAfterMs), LAST_TRY_AGAIN_MS);
}

/** Milliseconds until an event that was refused `tries` times is sent again; undefined once it becomes a dead letter. */
export function parkedWaitMs(tries: number): number | undefined {
  return PARKED_WAITS_MS[tries - 1];
}

/** The wait before a last try, for an event that cannot become a dead letter yet: the endpoint has taken no other since. */
export const LAST_PARKED_WAIT_MS = PARKED_WAITS_MS.at(-1) ?? HOUR_MS;

/** What events are in order about: an order, a link or an account. */
export type SubjectKind = 'order' | 'link' | 'account';

/** Types of rows by what they are about. */
export const ROW_TYPES: Readonly<Record<SubjectKind, readonly EventRow['type'][]>> = {
  order: ['order', 'order.needs_attention', 'finding.opened', 'finding.resolved', 'finding.acknowledged'],
  link: ['link', 'photos'],
  account: ['account'],
};

/** Tells what a row is about. */
export function subjectKindOf(type: EventRow['type']): SubjectKind {
  if (ROW_TYPES.link.includes(type)) return 'link';
  return type === 'account' ? 'account' : 'order';
}

/** A list of types of events, or of their beginnings such as `order.*`; empty for all. */
export type EventFilter = readonly string[];

/** Tells whether a filter takes events of a type. */
export function takesType(filter: EventFilter, type: EventType): boolean {
  return (
    filter.length === 0 ||
    filter.some((one) => one === type || (one.endsWith('.*') && type.startsWith(one.slice(0, -1))))
  );
}
