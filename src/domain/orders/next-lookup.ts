import { after } from '../instant.ts';
import type { FollowSettings } from './lookup.ts';
import { LEAST_GAP_MS } from './pace/pace.ts';
import { isPaced } from './pace/status.ts';
import {
  HELD_LOOKUP_MS,
  longestFreshMs,
  OUTAGE_LOOKUP_MS,
  plannedGapMs,
  REJECTED_LOOKUPS_MS,
  unansweredLookupMs,
} from './schedule.ts';
import { RECHECKED_STATES, type OrderState } from './states.ts';
import type { Decision, Tracking } from './tracking.ts';

const HOUR_MS = 60 * 60_000;

/** The time of the next look-up of an order that was looked up now; null for never. */
export function nextLookupAt(
  tracking: Tracking,
  now: Date,
  settings: FollowSettings,
  hasEnded = isRechecked(tracking.state),
): Date | null {
  if (hasEnded) {
    return nextRecheckAt(tracking, now, settings);
  }
  if (tracking.state === 'held') return after(now, heldLookupMs(settings));
  if (tracking.state === 'unknown') return tracking.nextActionAt;
  const sinceChangeMs = now.getTime() - (tracking.changedAt ?? now).getTime();
  return after(now, settings.pace.gapMs(tracking, sinceChangeMs));
}

/** The time of the next look-up of an order that has ended; null for never. */
export function nextRecheckAt(
  { state, rechecks }: Pick<Tracking, 'state' | 'rechecks'>,
  now: Date,
  { recheckFinalAfter }: Pick<FollowSettings, 'recheckFinalAfter'>,
): Date | null {
  const gapMs = plannedGapMs(rechecks, state === 'rejected' ? REJECTED_LOOKUPS_MS : recheckFinalAfter);
  return gapMs === undefined ? null : after(now, gapMs);
}

/** The wait between look-ups of a held order. */
export function heldLookupMs({ freshFor }: FollowSettings): number {
  return Math.min(HELD_LOOKUP_MS, longestFreshMs(freshFor));
}

/**
 * An early look-up that was not answered leaves the planned look-up where it is. In an outage requests are rare anyway, so
 * no order waits for longer than until the next look-up shows whether the outage is over.
 */
export function afterNoAnswer(tracking: Tracking, now: Date, random: number, isOutage = false): Date {
  const longestMs = isOutage ? OUTAGE_LOOKUP_MS : Number.POSITIVE_INFINITY;
  return (
    planned(tracking, now) ?? after(now, Math.min(unansweredLookupMs(silentForMs(tracking, now), random), longestMs))
  );
}

/**
 * An answer about another order is none either, but the exchange is well: look-ups are spaced as those with an answer. Where no
 * pace is kept, they are the rarer the longer there was none.
 */
export function afterOtherOrder(tracking: Tracking, now: Date, { pace }: Pick<FollowSettings, 'pace'>): Date {
  const silentMs = silentForMs(tracking, now);
  const gapMs = isPaced(tracking.state) ? pace.gapMs(tracking, silentMs) : rarerMs(tracking, silentMs);
  return planned(tracking, now) ?? after(now, gapMs);
}

/** An unknown outcome is not left alone for longer than an hour. */
function rarerMs({ state }: Tracking, silentMs: number): number {
  return Math.min(Math.max(LEAST_GAP_MS, silentMs / 2), state === 'unknown' ? HOUR_MS : HELD_LOOKUP_MS);
}

function planned({ nextActionAt }: Tracking, now: Date): Date | undefined {
  return nextActionAt !== null && nextActionAt > now ? nextActionAt : undefined;
}

/**
 * The time since the last evidence, or the create where there was none. Where that lies ahead, the clock was set back: it
 * counts as if it were as long ago, so that an order without answers is not looked up twice a minute until then.
 */
function silentForMs({ lastLookupAt, sentAt }: Tracking, now: Date): number {
  const silentSince = Math.max(lastLookupAt?.getTime() ?? 0, sentAt?.getTime() ?? 0) || now.getTime();
  return Math.abs(now.getTime() - silentSince);
}

/** Counts a look-up of an order that has ended. */
export function recheck({ state, rechecks }: Tracking): Pick<Tracking, 'rechecks'> {
  return { rechecks: isRechecked(state) ? rechecks + 1 : rechecks };
}

/** A decision that only writes what is planned and counted. */
export function unchanged(tracking: Tracking, changes: Partial<Tracking>): Decision {
  return { tracking: { ...tracking, ...changes }, events: [] };
}

function isRechecked(state: OrderState): boolean {
  return (RECHECKED_STATES as readonly OrderState[]).includes(state);
}
