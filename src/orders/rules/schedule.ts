import { after } from '../../base/instant.ts';
import { LEAST_GAP_MS, type FollowSettings, type LookupAnswer } from './lookup.ts';
import { isPaced, isRechecked, type OrderState } from './states.ts';
import type { Decision, Tracking } from './tracking.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** If a waiting order is due further ahead than this, and than all of `verifyAfter`, a wrong clock wrote the time. */
export const LONGEST_WAIT_MS = 8 * DAY;

/** Returns 50 to 100 % of `ms`, so that retries do not come together. `random` is in [0, 1). */
export function withJitter(ms: number, random: number): number {
  return Math.round(ms * (0.5 + random / 2));
}

/** Returns 75 to 125 % of `ms`, so that orders do not stay due together. `random` is in [0, 1). */
export function spreadMs(ms: number, random: number): number {
  return Math.round(ms * (0.75 + random / 2));
}

/** Returns the wait in ms before a create is repeated: 2 ** `attempt` s, at most 5 min, with jitter; at least 1 s. */
export function createBackoffMs(attempt: number, random: number): number {
  return Math.max(SECOND, withJitter(Math.min(2 ** Math.min(attempt, 12) * SECOND, 5 * MINUTE), random));
}

/** The longest gap between look-ups in ms: 90 % of `freshForMs`, because a look-up takes time; at least 5 s. */
export function longestLookupGapMs(freshForMs: number): number {
  return Math.max(5 * SECOND, 0.9 * freshForMs);
}

/** Returns the wait in ms after an unanswered look-up: a quarter of `silentMs`, from 30 s to 15 min, with jitter. */
export function unansweredLookupMs(silentMs: number, random: number): number {
  return withJitter(Math.min(Math.max(30 * SECOND, silentMs / 4), 15 * MINUTE), random);
}

export const OUTAGE_LOOKUP_MS = 10 * SECOND;

export const HELD_LOOKUP_MS = DAY;

/** When a rejected order is looked up, in ms after the rejection: the exchange may have taken the order after all. */
export const REJECTED_LOOKUPS_MS = [HOUR, DAY] as const;

/** Returns the ms from moment `done - 1` to `done`. Callers add this gap to now, so an outage delays later moments. */
export function plannedGapMs(done: number, moments: readonly number[]): number | undefined {
  const at = moments[done];
  if (at === undefined) return undefined;
  return Math.max(0, at - (moments[done - 1] ?? 0));
}

export function nextLookupAt(tracking: Tracking, now: Date, settings: FollowSettings): Date | null {
  if (isRechecked(tracking.state)) return nextRecheckAt(tracking, now, settings);
  if (tracking.state === 'held') return after(now, heldLookupMs(settings));
  if (tracking.state === 'unknown') return tracking.nextActionAt;
  const sinceChangeMs = now.getTime() - (tracking.changedAt ?? now).getTime();
  return after(now, settings.pace.gapMs(tracking, sinceChangeMs));
}

export function nextRecheckAt(order: Pick<Tracking, 'state' | 'rechecks'>, now: Date, settings: FollowSettings) {
  const moments = order.state === 'rejected' ? REJECTED_LOOKUPS_MS : settings.recheckFinalAfter;
  const gapMs = plannedGapMs(order.rechecks, moments);
  return gapMs === undefined ? null : after(now, gapMs);
}

export function heldLookupMs({ freshFor }: FollowSettings): number {
  return Math.min(HELD_LOOKUP_MS, longestLookupGapMs(freshFor));
}

/** Returns when to look up again after a look-up without an answer. An early look-up does not move the planned time. */
export function afterNoAnswer(
  tracking: Tracking,
  { answeredFor, isOutage = false }: Extract<LookupAnswer, { kind: 'unanswered' }>,
  now: Date,
  random: number,
  { pace }: Pick<FollowSettings, 'pace'>,
): Date {
  const { nextActionAt, state, lastLookupAt, sentAt } = tracking;
  if (nextActionAt !== null && nextActionAt > now) return nextActionAt;
  const silentSince = Math.max(lastLookupAt?.getTime() ?? 0, sentAt?.getTime() ?? 0) || now.getTime();
  // If the clock was set back, `silentSince` may be ahead of now. Then the distance to now counts.
  const silentMs = Math.abs(now.getTime() - silentSince);
  if (answeredFor === undefined) return after(now, isOutage ? OUTAGE_LOOKUP_MS : unansweredLookupMs(silentMs, random));
  if (isPaced(state)) return after(now, pace.gapMs(tracking, silentMs));
  // If answers are for another id, an unknown outcome is still looked up at least once an hour.
  return after(now, Math.min(Math.max(LEAST_GAP_MS, silentMs / 2), state === 'unknown' ? HOUR : HELD_LOOKUP_MS));
}

export function unchanged(tracking: Tracking, changes: Partial<Tracking>): Decision {
  return { tracking: { ...tracking, ...changes }, events: [] };
}

/** Plans the next look-up of an order that a look-up did not change. */
export function unchangedUntilNext(tracking: Tracking, now: Date, settings: FollowSettings): Decision {
  const next = isRechecked(tracking.state) ? { ...tracking, rechecks: tracking.rechecks + 1 } : tracking;
  return unchanged(next, { nextActionAt: nextLookupAt(next, now, settings) });
}

/** A state of orders to look up. `new` and `newest` are accepted orders never looked up, from the oldest and newest. */
export type LookupSource = 'new' | 'newest' | Exclude<OrderState, 'pending' | 'sending' | 'invalid'>;

/** Groups share a round by weight, so that 500,000 due accepted orders delay an open order by one round only. */
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

/** The most look-ups of one round. An order that comes due during a round waits for the end of the round. */
export const LOOKUPS_A_ROUND = 32;

export interface DueLookup {
  readonly source: LookupSource;
  readonly externalOrderId: string;
  readonly nextActionAt: string;
}

/** Chooses the first orders of each group by weight until the round is full. */
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

/** Returns the oldest and newest orders in turn, each once, so that a new order does not wait behind a backlog. */
function fromBothEnds<Due extends DueLookup>(due: readonly Due[]): Due[] {
  const byAge = due.toSorted(
    (one, other) =>
      compare(one.nextActionAt, other.nextActionAt) || compare(one.externalOrderId, other.externalOrderId),
  );
  const oldest = byAge.filter(({ source }) => source !== 'newest');
  const newest = byAge.filter(({ source }) => source === 'newest').toReversed();
  const turns = due.flatMap((_, index) => [oldest[index], newest[index]]).filter((one) => one !== undefined);
  return [...new Map(turns.map((one) => [one.externalOrderId, one])).values()];
}

function compare(one: string, other: string): number {
  return Number(one > other) - Number(one < other);
}
