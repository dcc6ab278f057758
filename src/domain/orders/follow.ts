import { instant, after } from '../instant.ts';
import { FOLLOWED_STATES, RECHECKED_STATES, type OrderState } from './states.ts';
import { followIntervalMs, HELD_LOOKUP_MS, longestFreshMs, plannedGapMs, unansweredLookupMs } from './schedule.ts';
import type { RecordView } from '../record.ts';
import { finding, move, type Decision, type OrderEvent, type Tracking } from './tracking.ts';

/** The answer to a look-up (§4.11). Only `found` and `not-found` are evidence. */
export type LookupAnswer =
  | { readonly kind: 'found'; readonly record: RecordView; readonly body: string }
  | { readonly kind: 'not-found' }
  /** `answeredFor` is the external order id that the answer was about instead. */
  | { readonly kind: 'unanswered'; readonly why: string; readonly answeredFor?: string };

/** Settings that decide about look-ups; times in milliseconds. */
export interface FollowSettings {
  readonly verifyAfter: readonly number[];
  readonly onUnknown: 'hold' | 'resend';
  readonly finalStatuses: readonly string[];
  readonly openStatuses: readonly string[];
  readonly recheckFinalAfter: readonly number[];
  /** The time for which a look-up counts as fresh; orders that are not final are looked up before it is over. */
  readonly freshFor: number;
}

/** The writes after a look-up. */
export interface LookupDecision extends Decision {
  /** The record of the look-up is the newest and is stored. */
  readonly keepsRecord: boolean;
}

/** A create is repeated no earlier than this after the request whose outcome is unknown. */
export const RESEND_NOT_BEFORE_MS = 10 * 60_000;
const RESEND_AFTER_VERIFICATIONS = 3;
/** A date further ahead than clocks differ does not tell which record is newer. */
const MOST_AHEAD_MS = 24 * 60 * 60_000;
const NANOSECONDS_A_MS = 1_000_000n;

/** States whose orders are looked up, unknown outcomes first: a person may be waiting for them. */
export const LOOKED_UP_STATES: readonly OrderState[] = [...FOLLOWED_STATES, ...RECHECKED_STATES];

/**
 * Tells whether the answer to a look-up may decide about the order as it is now. A person may have had it sent again in
 * the meantime; then only an order that was found counts, and it is not sent once more.
 */
export function isLookedUp({ state, attempts }: Tracking, answer: LookupAnswer): boolean {
  if (LOOKED_UP_STATES.includes(state)) return true;
  return state === 'pending' && attempts > 0 && answer.kind === 'found';
}

/** Tells whether a record says that its order is final. */
export function isFinalRecord(record: RecordView, settings: FollowSettings): boolean {
  const status = record.orderStatus;
  if (settings.finalStatuses.includes(status)) return true;
  if (settings.openStatuses.includes(status)) return false;
  const completed = instant(record.completionDate);
  const server = instant(record.serverDate);
  return completed !== undefined && server !== undefined && completed <= server;
}

/** Decides what the answer to a look-up does to its order. Call it only where `isLookedUp` is true. */
export function decideLookup(
  known: Tracking,
  answer: LookupAnswer,
  now: Date,
  random: number,
  settings: FollowSettings,
): LookupDecision {
  // A change that was dated by a fast clock would have the order looked up without a pause until that date.
  const tracking = known.changedAt !== null && known.changedAt > now ? { ...known, changedAt: now } : known;
  switch (answer.kind) {
    case 'found':
      return found(tracking, answer.record, now, settings);
    case 'not-found':
      return { ...notFound(tracking, now, settings), keepsRecord: false };
    case 'unanswered':
      return { ...unchanged(tracking, { nextActionAt: afterNoAnswer(tracking, now, random) }), keepsRecord: false };
  }
}

function found(tracking: Tracking, record: RecordView, now: Date, settings: FollowSettings): LookupDecision {
  if (isOlder(record, tracking.modificationDate, now)) return stale(tracking, record, now, settings);
  const target: OrderState = isFinalRecord(record, settings) ? 'final' : 'open';
  const changes = statusChanges(tracking, record);
  const moved = tracking.state === target ? undefined : movedTo(tracking, target, record);
  const isChanged = changes.length > 0 || moved !== undefined;
  const isOrdered = recordTime(record.modificationDate, record, now) !== undefined;
  const next: Tracking = {
    ...(moved?.tracking ?? tracking),
    orderId: record.orderId,
    exchangeType: record.exchangeType ?? tracking.exchangeType,
    orderStatus: record.orderStatus,
    cryptoStatus: record.cryptoStatus,
    fiatStatus: record.fiatStatus,
    // A date that cannot be used must not let an older record pass as newer.
    modificationDate: isOrdered ? record.modificationDate : tracking.modificationDate,
    staleDate: null,
    lastLookupAt: now,
    changedAt: isChanged ? now : tracking.changedAt,
    rechecks: target === 'final' && !isChanged ? tracking.rechecks + 1 : 0,
  };
  const events = [...changes, ...(moved?.events ?? [])];
  return { tracking: { ...next, nextActionAt: nextLookupAt(next, now, settings) }, events, keepsRecord: true };
}

/** Moves that a person should look at bring a finding with them. */
function movedTo(tracking: Tracking, target: OrderState, record: RecordView): Decision {
  const exchangeTime = record.modificationDate;
  const decision = move(tracking, target, { source: 'lookup', exchangeTime });
  if (tracking.state === 'final') {
    const reopened = finding('TERMINAL_REOPENED', 'lookup', 'a final order is open again', exchangeTime);
    return { ...decision, events: [...decision.events, reopened] };
  }
  if (tracking.state === 'cancelled' || tracking.state === 'abandoned') {
    const reason = `an order exists for a row that was ${tracking.state}`;
    return { ...decision, events: [...decision.events, finding('UNEXPECTED_ORDER', 'lookup', reason, exchangeTime)] };
  }
  return decision;
}

function statusChanges(tracking: Tracking, record: RecordView): OrderEvent[] {
  const fields = [
    ['order.status', tracking.orderStatus, record.orderStatus],
    ['cryptoTransaction.status', tracking.cryptoStatus, record.cryptoStatus],
    ['fiatTransaction.status', tracking.fiatStatus, record.fiatStatus],
  ] as const;
  const how = { exchangeTime: record.modificationDate, source: 'lookup', reason: null } as const;
  return fields
    .filter(([, oldValue, newValue]) => oldValue !== newValue)
    .map(([field, oldValue, newValue]) => ({ field, oldValue, newValue, ...how }));
}

/** A record that is older than ours changes nothing; its arrival is recorded once. */
function stale(tracking: Tracking, record: RecordView, now: Date, settings: FollowSettings): LookupDecision {
  const seen = { ...tracking, ...recheck(tracking), lastLookupAt: now, staleDate: record.modificationDate };
  const decision = unchanged(seen, { nextActionAt: nextLookupAt(seen, now, settings) });
  if (tracking.staleDate === record.modificationDate) return { ...decision, keepsRecord: false };
  const event: OrderEvent = {
    field: 'record.stale',
    oldValue: tracking.modificationDate,
    newValue: record.modificationDate,
    exchangeTime: record.modificationDate,
    source: 'lookup',
    reason: 'the exchange sent a record older than the one we have; nothing was changed',
  };
  return { ...decision, events: [event], keepsRecord: false };
}

function notFound(tracking: Tracking, now: Date, settings: FollowSettings): Decision {
  const checked: Tracking = { ...tracking, lastLookupAt: now };
  if (tracking.state === 'unknown') return verified(checked, now, settings);
  const next = { ...checked, ...recheck(tracking) };
  return unchanged(next, { nextActionAt: nextLookupAt(next, now, settings) });
}

/**
 * Counts a look-up that found no order as one verification of an unknown outcome. A look-up before its time (`sync` looks
 * up every order) does not count: all verifications would be over in minutes instead of a day.
 */
function verified(tracking: Tracking, now: Date, settings: FollowSettings): Decision {
  if (tracking.nextActionAt !== null && tracking.nextActionAt > now) return unchanged(tracking, {});
  const verifications = tracking.verifications + 1;
  if (mayResend({ ...tracking, verifications }, now, settings)) return resent({ ...tracking, verifications }, now);
  const gapMs = plannedGapMs(verifications, settings.verifyAfter);
  if (gapMs !== undefined) return unchanged(tracking, { verifications, nextActionAt: after(now, gapMs) });
  const reason = `the outcome of the create is unknown and ${verifications} look-ups found no order; ask the exchange and use orders resolve`;
  const nextActionAt = after(now, heldLookupMs(settings));
  return move(tracking, 'held', { source: 'lookup', reason }, { verifications, nextActionAt });
}

function mayResend(tracking: Tracking, now: Date, settings: FollowSettings): boolean {
  return (
    settings.onUnknown === 'resend' &&
    tracking.resends === 0 &&
    tracking.verifications >= RESEND_AFTER_VERIFICATIONS &&
    tracking.sentAt !== null &&
    now.getTime() - tracking.sentAt.getTime() >= RESEND_NOT_BEFORE_MS
  );
}

/** The order goes back to pending by way of held, as when a person decides; both moves are recorded. */
function resent(tracking: Tracking, now: Date): Decision {
  const how = { source: 'lookup', reason: 'sent again once: create.onUnknown is resend' } as const;
  const held = move(tracking, 'held', how);
  const pending = move(held.tracking, 'pending', how, { resends: 1, verifications: 0, nextActionAt: now });
  return { tracking: pending.tracking, events: [...held.events, ...pending.events] };
}

function nextLookupAt(tracking: Tracking, now: Date, settings: FollowSettings): Date | null {
  if (isRechecked(tracking.state)) {
    const gapMs = plannedGapMs(tracking.rechecks, settings.recheckFinalAfter);
    return gapMs === undefined ? null : after(now, gapMs);
  }
  if (tracking.state === 'held') return after(now, heldLookupMs(settings));
  if (tracking.state === 'unknown') return tracking.nextActionAt;
  const sinceChangeMs = now.getTime() - (tracking.changedAt ?? now).getTime();
  return after(now, followIntervalMs(sinceChangeMs, longestFreshMs(settings.freshFor)));
}

function heldLookupMs({ freshFor }: FollowSettings): number {
  return Math.min(HELD_LOOKUP_MS, longestFreshMs(freshFor));
}

/** A look-up before its time that was not answered leaves the planned look-up where it is. */
function afterNoAnswer({ nextActionAt }: Tracking, now: Date, random: number): Date {
  return nextActionAt !== null && nextActionAt > now ? nextActionAt : after(now, unansweredLookupMs(random));
}

/** Counts a look-up of an order that has ended. */
function recheck({ state, rechecks }: Tracking): Pick<Tracking, 'rechecks'> {
  return { rechecks: isRechecked(state) ? rechecks + 1 : rechecks };
}

function isRechecked(state: OrderState): boolean {
  return (RECHECKED_STATES as readonly OrderState[]).includes(state);
}

function unchanged(tracking: Tracking, changes: Partial<Tracking>): Decision {
  return { tracking: { ...tracking, ...changes }, events: [] };
}

function isOlder(record: RecordView, known: string | null, now: Date): boolean {
  const receivedAt = recordTime(record.modificationDate, record, now);
  const knownAt = recordTime(known, record, now);
  return receivedAt !== undefined && knownAt !== undefined && receivedAt < knownAt;
}

/**
 * The time of a record in nanoseconds, by which records are ordered; undefined where the date cannot be used. The later of
 * the exchange's clock and ours decides what is too far ahead: ours may have been set back.
 */
function recordTime(text: string | null, { serverDate }: RecordView, now: Date): bigint | undefined {
  const time = instant(text);
  const server = instant(serverDate) ?? 0n;
  const here = BigInt(now.getTime()) * NANOSECONDS_A_MS;
  const latest = (server > here ? server : here) + BigInt(MOST_AHEAD_MS) * NANOSECONDS_A_MS;
  return time === undefined || time > latest ? undefined : time;
}
