import { after } from '../instant.ts';
import type { CreateSettings } from './create.ts';
import { plannedGapMs } from './schedule.ts';
import { move, type Decision, type OrderEvent, type Tracking } from './tracking.ts';

/** The part of the history that says who took an order for sent, and why. */
export type Assumption = Pick<OrderEvent, 'source' | 'reason' | 'actor'>;

/**
 * Takes an order for sent although no request of it is known: it is looked up, and then held, and never sent again unless a
 * person says so. The request counts as one that was repeated, and as made now: only a look-up from now on proves that
 * there is no order.
 */
export function assumeSent(
  tracking: Tracking,
  how: Assumption,
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
    nextActionAt: after(now, plannedGapMs(0, settings.verifyAfter) ?? 0),
  };
  const { state } = tracking;
  if (state === 'unknown' || state === 'held') return { tracking: { ...tracking, ...request }, events: [] };
  return move(tracking, 'unknown', how, request);
}
