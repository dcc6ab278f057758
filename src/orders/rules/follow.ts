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
import { afterNoAnswer, nextLookupAt, recheck, unchanged } from './schedule.ts';
import { FOLLOWED_STATES, RECHECKED_STATES, type OrderState } from './states.ts';
import { finding, isNeverSent, move, type Decision, type OrderEvent, type Tracking } from './tracking.ts';
import { instant } from '../../base/instant.ts';
import type { RecordView } from './record.ts';
import { decideChange } from './record-change.ts';
import { sameDecimal } from '../../base/decimal.ts';
import { quote } from '../../base/text.ts';

const LOOKED_UP_STATES: readonly OrderState[] = [...FOLLOWED_STATES, ...RECHECKED_STATES];

/** A pending order may be looked up to test the exchange, or a person had it sent again; then only a found order counts. */
export function isLookedUp({ state }: Tracking, answer: LookupAnswer): boolean {
  return LOOKED_UP_STATES.includes(state) || (state === 'pending' && answer.kind === 'found');
}

/**
 * True if a later request was answered first, unless the answer has a newer date or the only record. A time that is
 * ahead of this clock was written under another one.
 */
export function isOvertaken(known: Tracking, answer: LookupAnswer, askedAt: Date, now: Date): boolean {
  const { lastLookupAt, orderId, modificationDate } = known;
  if (lastLookupAt === null || lastLookupAt <= askedAt || lastLookupAt > now) return false;
  return answer.kind !== 'found' || (orderId !== null && laterBy(answer.record, modificationDate, now) <= 0n);
}

/** Decides the answer to a look-up, if `isLookedUp` is true. `contradictions` are those of the found record. */
export function decideLookup(
  known: Tracking,
  answer: LookupAnswer,
  now: Date,
  random: number,
  settings: FollowSettings,
  contradictions: readonly Contradiction[] = [],
): LookupDecision {
  // A change that was dated by a fast clock would have the order looked up without a pause until that date.
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

/** A date further ahead than clocks differ does not tell which record is newer. */
const MOST_AHEAD_MS = 24 * 60 * 60_000;
const NANOSECONDS_A_MS = 1_000_000n;
const NO_DATE = 'no date';

/** A record that makes the order disputed may be of another order: it is always taken, and nothing is learned from it. */
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
  const target = dispute === undefined ? (isFinal ? 'final' : 'open') : disputedState(tracking, record);
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
    // A date that cannot be used must not let an older record pass as newer.
    modificationDate: isOrdered ? record.modificationDate : tracking.modificationDate,
    staleDate: null,
    lastLookupAt: now,
    changedAt: isChanged ? now : tracking.changedAt,
    // A look-up before its time counts as none of the planned ones.
    rechecks: isSameEnd ? tracking.rechecks + Number(isDue) : 0,
    outcome: target === 'final' ? outcomeOf(record, settings) : null,
  };
  const fields = (change?.fields ?? []).map((field) => ({ ...field, ...shownBy(record) }));
  const events = [...changes, ...fields, ...(moved?.events ?? [])];
  const nextActionAt = isSameEnd && !isDue ? tracking.nextActionAt : nextLookupAt(next, now, settings, hasEnded);
  return { tracking: { ...next, nextActionAt }, events, keepsRecord: true, ...turns };
}

/** Why the order is disputed, if it is. An order that answers for an unsent row contradicts it in any case. */
function disputeOf(tracking: Tracking, contradictions: readonly Contradiction[], settings: FollowSettings) {
  if (isNeverSent(tracking) && tracking.oursDespite === null) {
    return 'the exchange has an order for the row, although it was never sent';
  }
  const disputes = disputesOf(tracking, contradictions, settings);
  return disputes.length === 0 ? undefined : describeDisputes(disputes);
}

/** A person who abandoned a disputed order knew of the order that contradicts it. */
function disputedState({ state, orderId }: Tracking, record: RecordView): OrderState {
  return state === 'abandoned' && orderId === record.orderId ? 'abandoned' : 'disputed';
}

/** Moves that a person should look at bring a finding with them. */
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

/** A record that is older than ours, or takes turns with it, changes nothing. It counts once for as long as it is answered. */
function notTaken(tracking: Tracking, record: RecordView, now: Date, settings: FollowSettings): LookupDecision {
  const staleDate = record.modificationDate ?? NO_DATE;
  const seen = { ...tracking, ...recheck(tracking), lastLookupAt: now, staleDate };
  const decision = unchanged(seen, { nextActionAt: nextLookupAt(seen, now, settings) });
  if (tracking.staleDate === staleDate) return { ...decision, keepsRecord: false };
  const disagreement = { expected: named(tracking), actual: named(record) };
  return { ...decision, keepsRecord: false, disagreement };
}

function named({ orderStatus, modificationDate }: Pick<Tracking, 'orderStatus' | 'modificationDate'>): string {
  return `${orderStatus}, modified ${modificationDate ?? 'at no time'}`;
}

/** The nanoseconds from the date known to that of a record; 0 if either has none that can be used. */
function laterBy(record: RecordView, known: string | null, now: Date): bigint {
  const receivedAt = recordTime(record.modificationDate, record, now);
  const knownAt = recordTime(known, record, now);
  return receivedAt === undefined || knownAt === undefined ? 0n : receivedAt - knownAt;
}

/** The time of a record in ns; undefined if it is too far ahead of the later of the exchange's clock and ours. */
function recordTime(text: string | null, { serverDate }: RecordView, now: Date): bigint | undefined {
  const time = instant(text);
  const server = instant(serverDate) ?? 0n;
  const here = BigInt(now.getTime()) * NANOSECONDS_A_MS;
  const latest = (server > here ? server : here) + BigInt(MOST_AHEAD_MS) * NANOSECONDS_A_MS;
  return time === undefined || time > latest ? undefined : time;
}

type Settled = readonly [kind: string, actual: string | null];

/** Returns the contradictions that make an order disputed: those of `follow.disputedBy` that no person has settled. */
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

export interface NewestRecord {
  readonly record: RecordView;
  readonly contradictions: readonly Contradiction[];
}

/** Decides a disputed order of which a person says that it is ours. The same contradictions dispute it no more. */
export function decideOurs(
  tracking: Tracking,
  { record, contradictions }: NewestRecord,
  how: { readonly source: 'operator'; readonly reason: string; readonly actor: string },
  now: Date,
  settings: FollowSettings,
): Decision {
  const isFinal = isFinalRecord(record, settings);
  const outcome = isFinal ? outcomeOf(record, settings) : null;
  const oursDespite = settling(tracking, contradictions);
  const moved = move(tracking, isFinal ? 'final' : 'open', how, { oursDespite, outcome, changedAt: now, rechecks: 0 });
  const nextActionAt = nextLookupAt(moved.tracking, now, settings);
  return { ...moved, tracking: { ...moved.tracking, nextActionAt } };
}

function settling({ oursDespite }: Tracking, contradictions: readonly Contradiction[]): string {
  const settled = settledIn(oursDespite);
  const news = contradictions.filter((one) => !settled.some((known) => isSame(known, one)));
  return JSON.stringify([...settled, ...news.map(({ kind, actual }): Settled => [kind, actual])]);
}

function isSame([kind, actual]: Settled, one: Contradiction): boolean {
  if (kind !== one.kind) return false;
  return actual === one.actual || (kind === 'amount' && sameDecimal(actual, one.actual));
}

/** Another program may have written anything into the column: that settles nothing. */
function settledIn(text: string | null): readonly Settled[] {
  try {
    const settled: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(settled)
      ? settled.filter(Array.isArray).map(([kind, actual]) => [kind, actual] as Settled)
      : [];
  } catch {
    return [];
  }
}
