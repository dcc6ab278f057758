import type { Contradiction } from './contradictions.ts';
import { absent } from './absent.ts';
import {
  isFinalRecord,
  outcomeOf,
  type FollowSettings,
  type FoundRecord,
  type LookupAnswer,
  type LookupDecision,
} from './lookup.ts';
import { afterNoAnswer, nextLookupAt, nextRecheckAt, unchanged, unchangedUntilNext } from './schedule.ts';
import { FOLLOWED_STATES, RECHECKED_STATES, type OrderState } from './states.ts';
import { finding, isNeverSent, move, type Decision, type OrderEvent, type Tracking } from './tracking.ts';
import { instant, instantMs } from '../../base/instant.ts';
import type { RecordView } from './record.ts';
import { decideChange } from './record-change.ts';
import { sameDecimal } from '../../base/decimal.ts';
import { quote } from '../../base/text.ts';

const LOOKED_UP_STATES: readonly OrderState[] = [...FOLLOWED_STATES, ...RECHECKED_STATES];

/** True if the answer may change the order. A pending order is looked up as a probe; only a record changes it. */
export function isLookedUp({ state }: Tracking, answer: LookupAnswer): boolean {
  return LOOKED_UP_STATES.includes(state) || (state === 'pending' && answer.kind === 'found');
}

/** True if another answer came since this request, and this answer has neither a newer date nor the first record. */
export function isOvertaken(known: Tracking, answer: LookupAnswer, askedAt: Date, now: Date): boolean {
  const { lastLookupAt, orderId, modificationDate } = known;
  // A `lastLookupAt` ahead of `now` is of another clock, so it does not show which answer came first.
  if (lastLookupAt === null || lastLookupAt <= askedAt || lastLookupAt > now) return false;
  return answer.kind !== 'found' || (orderId !== null && laterBy(answer.record, modificationDate, now) <= 0n);
}

/** Decides by an answer for which `isLookedUp` is true. `contradictions` are between the found record and the row. */
export function decideLookup(
  known: Tracking,
  answer: LookupAnswer,
  now: Date,
  random: number,
  settings: FollowSettings,
  contradictions: readonly Contradiction[] = [],
): LookupDecision {
  // A fast clock may write a `changedAt` ahead of now. Until then, the order would seem to have just changed.
  const tracking = known.changedAt !== null && known.changedAt > now ? { ...known, changedAt: now } : known;
  switch (answer.kind) {
    case 'found':
      return found(tracking, answer, contradictions, now, settings);
    case 'absent':
      return { ...absent(tracking, answer.evidence, now, settings), keepsRecord: false };
    case 'unanswered': {
      const nextActionAt = afterNoAnswer(tracking, answer, now, random, settings);
      return { ...unchanged(tracking, { nextActionAt }), keepsRecord: false };
    }
  }
}

/** A date further ahead of both clocks, the exchange's and ours, does not show which record is newer. */
const MOST_AHEAD_MS = 24 * 60 * 60_000;
const NANOSECONDS_A_MS = 1_000_000n;
const NO_DATE = 'no date';

/** Takes even an old record if it disputes the order, but not its date, because it may be of another order. */
function found(
  tracking: Tracking,
  { record, comparison }: FoundRecord,
  contradictions: readonly Contradiction[],
  now: Date,
  settings: FollowSettings,
): LookupDecision {
  const dispute = disputeOf(tracking, contradictions, settings);
  if (dispute === undefined && laterBy(record, tracking.modificationDate, now) < 0n) {
    return notTaken(tracking, record, now, settings);
  }
  const turn = { wasContrary: tracking.staleDate !== null, isTaken: dispute !== undefined };
  const change = comparison && decideChange(comparison, turn);
  const turns = change && { turns: change.turns };
  if (change?.isContrary === true) return { ...notTaken(tracking, record, now, settings), ...turns };
  const isFinal = isFinalRecord(record, settings);
  // The person who abandoned the order may have known this record, so it does not make the order disputed.
  const isKnownEnd = tracking.state === 'abandoned' && tracking.orderId === record.orderId;
  const disputed = isKnownEnd ? 'abandoned' : 'disputed';
  const target = dispute === undefined ? (isFinal ? 'final' : 'open') : disputed;
  const hasEnded = isFinal || target === 'abandoned';
  const changes = statusChanges(tracking, record);
  const moved = tracking.state === target ? undefined : movedTo(tracking, target, record, dispute);
  const isChanged = changes.length > 0 || moved !== undefined;
  const isSameEnd = hasEnded && !isChanged;
  const isDue = (tracking.nextActionAt ?? now) <= now;
  const isOrdered = dispute === undefined && recordTime(record.modificationDate, record, now) !== undefined;
  const next: Tracking = {
    ...(moved?.tracking ?? tracking),
    ...(target === 'disputed' && dispute !== undefined && { stateReason: dispute }),
    orderId: record.orderId,
    exchangeType: record.exchangeType ?? tracking.exchangeType,
    orderStatus: record.orderStatus,
    cryptoStatus: record.cryptoStatus,
    fiatStatus: record.fiatStatus,
    // A date that cannot be used does not replace the known date, or an older record would seem newer.
    modificationDate: isOrdered ? record.modificationDate : tracking.modificationDate,
    staleDate: null,
    lastLookupAt: now,
    changedAt: isChanged ? now : tracking.changedAt,
    // An early look-up does not count as one of the planned look-ups.
    rechecks: isSameEnd ? tracking.rechecks + Number(isDue) : 0,
    outcome: target === 'final' ? outcomeOf(record, settings) : null,
  };
  const fields = (change?.fields ?? []).map((field) => ({ ...field, ...shownBy(record) }));
  const events = [...changes, ...fields, ...(moved?.events ?? [])];
  const plannedAt = (hasEnded ? nextRecheckAt : nextLookupAt)(next, now, settings);
  const nextActionAt = isSameEnd && !isDue ? tracking.nextActionAt : plannedAt;
  return { tracking: { ...next, nextActionAt }, events, keepsRecord: true, ...turns };
}

/** Returns why the order is disputed. Any record disputes an order never sent, unless a person called it "ours". */
function disputeOf(tracking: Tracking, contradictions: readonly Contradiction[], settings: FollowSettings) {
  if (isNeverSent(tracking) && tracking.oursDespite === null) {
    return 'the exchange has an order for the row, although it was never sent';
  }
  const disputes = disputesOf(tracking, contradictions, settings);
  return disputes.length === 0 ? undefined : describeDisputes(disputes);
}

/** Moves an order, and adds a finding if a person should look at the move. */
function movedTo(tracking: Tracking, target: OrderState, record: RecordView, reason: string | undefined): Decision {
  const exchangeTime = record.modificationDate;
  const decision = move(tracking, target, { source: 'lookup', exchangeTime, reason: reason ?? null });
  if (tracking.state === 'final' && target === 'open') {
    const reopened = finding('TERMINAL_REOPENED', 'lookup', 'a final order is open again', exchangeTime);
    return { ...decision, events: [...decision.events, reopened] };
  }
  const isUnsent = tracking.state === 'pending' && isNeverSent(tracking);
  if (isUnsent || tracking.state === 'rejected' || tracking.state === 'cancelled' || tracking.state === 'abandoned') {
    const why = `an order exists for a row that was ${isNeverSent(tracking) ? 'never sent' : tracking.state}`;
    return { ...decision, events: [...decision.events, finding('UNEXPECTED_ORDER', 'lookup', why, exchangeTime)] };
  }
  return decision;
}

function statusChanges(tracking: Tracking, record: RecordView): OrderEvent[] {
  const fields = [
    ['order.status', tracking.orderStatus, record.orderStatus],
    ['cryptoTransaction.status', tracking.cryptoStatus, record.cryptoStatus],
    ['fiatTransaction.status', tracking.fiatStatus, record.fiatStatus],
  ] as const;
  return fields
    .filter(([, oldValue, newValue]) => oldValue !== newValue)
    .map(([field, oldValue, newValue]) => ({ field, oldValue, newValue, ...shownBy(record) }));
}

function shownBy({ modificationDate }: RecordView): Pick<OrderEvent, 'exchangeTime' | 'source' | 'reason'> {
  return { exchangeTime: modificationDate, source: 'lookup', reason: null };
}

/** Keeps our record, because the received one is older or alternates with ours. Reports a repeated date once. */
function notTaken(tracking: Tracking, record: RecordView, now: Date, settings: FollowSettings): LookupDecision {
  const staleDate = record.modificationDate ?? NO_DATE;
  const decision = unchangedUntilNext({ ...tracking, lastLookupAt: now, staleDate }, now, settings);
  if (tracking.staleDate === staleDate) return { ...decision, keepsRecord: false };
  const disagreement = { expected: named(tracking), actual: named(record) };
  return { ...decision, keepsRecord: false, disagreement };
}

function named({ orderStatus, modificationDate }: Pick<Tracking, 'orderStatus' | 'modificationDate'>): string {
  return `${orderStatus}, modified ${modificationDate ?? 'at no time'}`;
}

/** Returns the nanoseconds from the known date to the date of a record; 0 if either date cannot be used. */
function laterBy(record: RecordView, known: string | null, now: Date): bigint {
  const receivedAt = recordTime(record.modificationDate, record, now);
  const knownAt = recordTime(known, record, now);
  return receivedAt === undefined || knownAt === undefined ? 0n : receivedAt - knownAt;
}

/** Returns a date in ns; undefined if it is unreadable, or too far ahead of both the exchange's clock and ours. */
function recordTime(text: string | null, { serverDate }: RecordView, now: Date): bigint | undefined {
  const time = instant(text);
  const latestMs = Math.max(instantMs(serverDate) ?? 0, now.getTime()) + MOST_AHEAD_MS;
  return time === undefined || time > BigInt(latestMs) * NANOSECONDS_A_MS ? undefined : time;
}

export type Settled = readonly [kind: string, actual: string | null];

/** Returns the contradictions of the kinds in `follow.disputedBy` that no person has settled. */
export function disputesOf(
  { oursDespite }: Pick<Tracking, 'oursDespite'>,
  contradictions: readonly Contradiction[],
  { disputedBy }: Pick<FollowSettings, 'disputedBy'>,
): readonly Contradiction[] {
  const settled = settledIn(oursDespite);
  return contradictions.filter((one) => disputedBy.includes(one.kind) && !settled.some((known) => isSame(known, one)));
}

export function describeDisputes(disputes: readonly Contradiction[]): string {
  return `the order at the exchange contradicts the row: ${disputes.map(describe).join('; ')}`;
}

function describe({ kind, expected, actual }: Contradiction): string {
  const [ours, theirs] = [expected ?? '', actual ?? ''];
  if (kind === 'age') return `it was created at ${quote(theirs)}, and ours was ${ours}`;
  return `its ${kind === 'id' ? 'external order id' : kind} is ${quote(theirs)}, and ours is ${quote(ours)}`;
}

function isSame([kind, actual]: Settled, one: Contradiction): boolean {
  if (kind !== one.kind) return false;
  return actual === one.actual || (kind === 'amount' && sameDecimal(actual, one.actual));
}

/** Reads the contradictions that a person settled. Text of another form, by another program, settles nothing. */
export function settledIn(text: string | null): readonly Settled[] {
  try {
    const settled: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(settled)
      ? settled.filter(Array.isArray).map(([kind, actual]) => [kind, actual] as Settled)
      : [];
  } catch {
    return [];
  }
}
