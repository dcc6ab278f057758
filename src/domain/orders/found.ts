import { instant } from '../instant.ts';
import type { RecordView } from '../record.ts';
import { isFinalRecord, type FollowSettings, type LookupDecision } from './lookup.ts';
import { nextLookupAt, recheck, unchanged } from './next-lookup.ts';
import type { OrderState } from './states.ts';
import { finding, isNeverSent, move, type Decision, type OrderEvent, type Tracking } from './tracking.ts';

/** A date further ahead than clocks differ does not tell which record is newer. */
const MOST_AHEAD_MS = 24 * 60 * 60_000;
const NANOSECONDS_A_MS = 1_000_000n;

/** Decides what the record of a look-up does to its order. */
export function found(tracking: Tracking, record: RecordView, now: Date, settings: FollowSettings): LookupDecision {
  if (isOlder(record, tracking.modificationDate, now)) return stale(tracking, record, now, settings);
  const target = stateOf(tracking, record, settings);
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

/** An order that answers for a row of which nothing was ever sent contradicts it, whatever the record says. */
function stateOf(tracking: Tracking, record: RecordView, settings: FollowSettings): OrderState {
  if (isNeverSent(tracking)) return 'disputed';
  return isFinalRecord(record, settings) ? 'final' : 'open';
}

/** Moves that a person should look at bring a finding with them. */
function movedTo(tracking: Tracking, target: OrderState, record: RecordView): Decision {
  const exchangeTime = record.modificationDate;
  const decision = move(tracking, target, { source: 'lookup', exchangeTime });
  if (tracking.state === 'final') {
    const reopened = finding('TERMINAL_REOPENED', 'lookup', 'a final order is open again', exchangeTime);
    return { ...decision, events: [...decision.events, reopened] };
  }
  const isEnded = ['rejected', 'cancelled', 'abandoned'].includes(tracking.state);
  if (isEnded || isNeverSent(tracking)) {
    const reason = `an order exists for a row that was ${isNeverSent(tracking) ? 'never sent' : tracking.state}`;
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
