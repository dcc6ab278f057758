import { after } from '../instant.ts';
import type { CreateSettings } from './create.ts';
import { plannedGapMs } from './schedule.ts';
import { move, type Decision, type OrderEvent, type Tracking } from './tracking.ts';

/** The part of the history that says who took an order for sent, and why. */
export interface Assumption extends Pick<OrderEvent, 'source' | 'reason' | 'actor'> {
  /** The fail-over that left the order in doubt. */
  readonly failOver?: number;
}

/**
 * Takes an order for sent although no request of it is known: it is looked up, and then held, and never sent again unless a
 * person says so. The request counts as one that was repeated, and as made now: only a look-up from now on proves that
 * there is no order.
 */
export function assumeSent(
  tracking: Tracking,
  { failOver, ...how }: Assumption,
  now: Date,
  settings: Pick<CreateSettings, 'verifyAfter'>,
): Decision {
  const request = {
    attempts: tracking.attempts + 1,
    resends: tracking.resends + 1,
    sentAt: now,
    verifications: 0,
    documentedAbsences: 0,
    absentAt: null,
    changedAt: now,
    failOver: failOver ?? tracking.failOver,
    nextActionAt: after(now, plannedGapMs(0, settings.verifyAfter) ?? 0),
  };
  const { state } = tracking;
  if (state === 'unknown' || state === 'held') return { tracking: { ...tracking, ...request }, events: [] };
  return move(tracking, 'unknown', how, request);
}

/** Accepts an order that was taken for sent, or makes it pending again. No decision if its outcome is known. */
export function freeOfDoubt(tracking: Tracking, isSent: boolean, how: Assumption, now: Date): readonly Decision[] {
  if (tracking.state !== 'unknown' && tracking.state !== 'held') return [];
  const held = tracking.state === 'unknown' ? [move(tracking, 'held', how)] : [];
  const from = held[0]?.tracking ?? tracking;
  const { resends } = from;
  const moved = isSent
    ? move(from, 'accepted', how, { changedAt: now, nextActionAt: now })
    : move(from, 'pending', how, { resends: resends + 1, verifications: 0, nextActionAt: now });
  return [...held, moved];
}
