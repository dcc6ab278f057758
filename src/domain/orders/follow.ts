import type { Contradiction } from '../contradictions.ts';
import { absent } from './absent.ts';
import { found, isNewer } from './found.ts';
import type { FollowSettings, LookupAnswer, LookupDecision } from './lookup.ts';
import { afterNoAnswer, afterOtherOrder, unchanged } from './next-lookup.ts';
import { FOLLOWED_STATES, RECHECKED_STATES, type OrderState } from './states.ts';
import type { Tracking } from './tracking.ts';

/** States whose orders are looked up. */
const LOOKED_UP_STATES: readonly OrderState[] = [...FOLLOWED_STATES, ...RECHECKED_STATES];

/**
 * Tells whether the answer to a look-up may decide about the order as it is now. One that waits to be sent may be looked
 * up to see whether the exchange serves, or a person may have had it sent again in the meantime; then only an order that
 * was found counts, and it is not sent any more.
 */
export function isLookedUp({ state }: Tracking, answer: LookupAnswer): boolean {
  return LOOKED_UP_STATES.includes(state) || (state === 'pending' && answer.kind === 'found');
}

/**
 * Tells whether another pass asked later and was answered first: then what is known may be newer than the answer. It is not
 * where the answer has a newer date, or the only record. A time that is ahead of this clock was written under another one.
 */
export function isOvertaken(known: Tracking, answer: LookupAnswer, askedAt: Date, now: Date): boolean {
  const { lastLookupAt, orderId, modificationDate } = known;
  if (lastLookupAt === null || lastLookupAt <= askedAt || lastLookupAt > now) return false;
  return answer.kind !== 'found' || (orderId !== null && !isNewer(answer.record, modificationDate, now));
}

/**
 * Decides what the answer to a look-up does to its order; `contradictions` are those of the record that it brought with the
 * row. Call it only where `isLookedUp` is true.
 */
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
      const isOfOther = answer.answeredFor !== undefined;
      const nextActionAt = isOfOther
        ? afterOtherOrder(tracking, now, settings)
        : afterNoAnswer(tracking, now, random, answer.isOutage);
      return { ...unchanged(tracking, { nextActionAt }), keepsRecord: false };
    }
  }
}
