import { after } from '../../base/instant.ts';
import { LEAST_GAP_MS, type FollowSettings, type LookupAnswer } from './lookup.ts';
import { isPaced, isRechecked, type OrderState } from './states.ts';
import type { Decision, Tracking } from './tracking.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The longest wait of any schedule. A due time further away was written by a wrong clock. */
export const LONGEST_WAIT_MS = 8 * DAY;

/** Draws a time from [0.5, 1) of `ms`, so that many retries do not come at once. `random` is in [0, 1). */
export function withJitter(ms: number, random: number): number {
  return Math.round(ms * (0.5 + random / 2));
}

/** Makes a time shorter or longer by up to a quarter, so that what began together is not due together. `random` is in [0, 1). */
export function spreadMs(ms: number, random: number): number {
  return Math.round(ms * (0.75 + random / 2));
}

/** Backoff before attempt `attempt + 1` of an order that was certainly not taken: 1 s doubling to 5 min, with jitter. */
export function createBackoffMs(attempt: number, random: number): number {
  return Math.max(SECOND, withJitter(Math.min(2 ** Math.min(attempt, 12) * SECOND, 5 * MINUTE), random));
}

/** The longest wait between look-ups that count as fresh for `freshForMs`; a tenth is left for the look-up itself. */
export function longestFreshMs(freshForMs: number): number {
  return Math.max(5 * SECOND, 0.9 * freshForMs);
}

/** Wait in ms after a look-up without evidence: a quarter of the time since the last evidence, from 30 s to 15 min. */
export function unansweredLookupMs(silentMs: number, random: number): number {
  return withJitter(Math.min(Math.max(30 * SECOND, silentMs / 4), 15 * MINUTE), random);
}

/** How often a request shows whether an exchange out of reach is back. */
export const OUTAGE_LOOKUP_MS = 10 * SECOND;

export const HELD_LOOKUP_MS = DAY;

/** When an order that the exchange rejected is looked up, in case it took it after all: durations since then. */
export const REJECTED_LOOKUPS_MS = [HOUR, DAY] as const;

/** Wait in ms; undefined after the last moment. The gaps count, so that look-ups do not come all at once after an outage. */
export function plannedGapMs(done: number, moments: readonly number[]): number | undefined {
  const at = moments[done];
  if (at === undefined) return undefined;
  return Math.max(0, at - (moments[done - 1] ?? 0));
}

export function nextLookupAt(
  tracking: Tracking,
  now: Date,
  settings: FollowSettings,
  hasEnded = isRechecked(tracking.state),
): Date | null {
  if (hasEnded) return nextRecheckAt(tracking, now, settings);
  if (tracking.state === 'held') return after(now, heldLookupMs(settings));
  if (tracking.state === 'unknown') return tracking.nextActionAt;
  const sinceChangeMs = now.getTime() - (tracking.changedAt ?? now).getTime();
  return after(now, settings.pace.gapMs(tracking, sinceChangeMs));
}

export function nextRecheckAt(
  { state, rechecks }: Pick<Tracking, 'state' | 'rechecks'>,
  now: Date,
  { recheckFinalAfter }: Pick<FollowSettings, 'recheckFinalAfter'>,
): Date | null {
  const gapMs = plannedGapMs(rechecks, state === 'rejected' ? REJECTED_LOOKUPS_MS : recheckFinalAfter);
  return gapMs === undefined ? null : after(now, gapMs);
}

export function heldLookupMs({ freshFor }: FollowSettings): number {
  return Math.min(HELD_LOOKUP_MS, longestFreshMs(freshFor));
}

/** An early look-up does not move the planned one. After an answer about another order the pace stays, or slows down for states without one. */
export function afterNoAnswer(
  tracking: Tracking,
  { answeredFor, isOutage = false }: Extract<LookupAnswer, { kind: 'unanswered' }>,
  now: Date,
  random: number,
  { pace }: Pick<FollowSettings, 'pace'>,
): Date {
  const { nextActionAt, state } = tracking;
  if (nextActionAt !== null && nextActionAt > now) return nextActionAt;
  const silentMs = silentForMs(tracking, now);
  if (answeredFor !== undefined) {
    return after(now, isPaced(state) ? pace.gapMs(tracking, silentMs) : rarerMs(state, silentMs));
  }
  return after(now, isOutage ? OUTAGE_LOOKUP_MS : unansweredLookupMs(silentMs, random));
}

/** An unknown outcome is not left alone for longer than an hour. */
function rarerMs(state: OrderState, silentMs: number): number {
  return Math.min(Math.max(LEAST_GAP_MS, silentMs / 2), state === 'unknown' ? HOUR : HELD_LOOKUP_MS);
}

/** A time that lies ahead counts as if it were as long ago: the clock was set back. */
function silentForMs({ lastLookupAt, sentAt }: Tracking, now: Date): number {
  const silentSince = Math.max(lastLookupAt?.getTime() ?? 0, sentAt?.getTime() ?? 0) || now.getTime();
  return Math.abs(now.getTime() - silentSince);
}

export function recheck({ state, rechecks }: Tracking): Pick<Tracking, 'rechecks'> {
  return { rechecks: isRechecked(state) ? rechecks + 1 : rechecks };
}

export function unchanged(tracking: Tracking, changes: Partial<Tracking>): Decision {
  return { tracking: { ...tracking, ...changes }, events: [] };
}

/** A state whose orders are looked up. `new` and `newest` are accepted orders without a look-up, from either end. */
export type LookupSource = 'new' | 'newest' | Exclude<OrderState, 'pending' | 'sending' | 'invalid'>;

/** Groups of orders take turns by weight: behind 500,000 due accepted orders an open one waits for one round. */
const GROUPS: readonly { readonly weight: number; readonly sources: readonly LookupSource[] }[] = [
  { weight: 8, sources: ['unknown'] },
  { weight: 4, sources: ['new', 'newest'] },
  { weight: 4, sources: ['open', 'disputed'] },
  { weight: 2, sources: ['accepted'] },
  { weight: 1, sources: ['held', 'final', 'rejected', 'cancelled', 'abandoned'] },
];

export function isNeverLookedUp(source: LookupSource): boolean {
  return source === 'new' || source === 'newest';
}

export const LOOKUP_SOURCES: readonly LookupSource[] = GROUPS.flatMap(({ sources }) => sources);

/** The most look-ups of one round. Orders that come due meanwhile wait for them. */
export const LOOKUPS_A_ROUND = 32;

export interface DueLookup {
  readonly source: LookupSource;
  readonly externalOrderId: string;
  readonly nextActionAt: string;
}

/**
 * Chooses the oldest of each group by its weight until the round is full. Orders without a look-up go oldest and newest
 * in turn: a long backlog does not keep a new order waiting.
 */
export function nextRound<Due extends DueLookup>(due: readonly Due[]): readonly Due[] {
  const groups = GROUPS.map(({ weight, sources }) => ({
    weight,
    waiting: fromBothEnds(due.filter(({ source }) => sources.includes(source))),
  }));
  const round: Due[] = [];
  while (round.length < LOOKUPS_A_ROUND && groups.some(({ waiting }) => waiting.length > 0)) {
    round.push(...groups.flatMap(({ weight, waiting }) => waiting.splice(0, weight)));
  }
  return round.slice(0, LOOKUPS_A_ROUND);
}

/** Takes the oldest and the newest in turn; each order once, though two sources may have it. */
function fromBothEnds<Due extends DueLookup>(due: readonly Due[]): Due[] {
  const oldest = due.filter(({ source }) => source !== 'newest').toSorted(byAge);
  const newest = due.filter(({ source }) => source === 'newest').toSorted((one, other) => byAge(other, one));
  const turns = Array.from({ length: due.length }, (_, index) => [oldest[index], newest[index]]).flat();
  return [...new Map(turns.flatMap((one) => (one === undefined ? [] : [[one.externalOrderId, one]]))).values()];
}

function byAge(one: DueLookup, other: DueLookup): number {
  return compare(one.nextActionAt, other.nextActionAt) || compare(one.externalOrderId, other.externalOrderId);
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
