import { after } from '../../base/instant.ts';
import type { FollowSettings, LookupAnswer } from './lookup.ts';
import { heldLookupMs, nextRecheckAt, plannedGapMs, unchanged, unchangedUntilNext } from './schedule.ts';
import { move, type Decision, type Tracking } from './tracking.ts';

/** A create is repeated no earlier than this after the request whose outcome is unknown. */
export const RESEND_NOT_BEFORE_MS = 10 * 60_000;
const RESEND_AFTER_ABSENCES = 3;

type Evidence = Extract<LookupAnswer, { kind: 'absent' }>['evidence'];

/** Only documented absence counts for a resend. Likely absence is evidence only if no order was ever found. */
export function absent(tracking: Tracking, evidence: Evidence, now: Date, settings: FollowSettings): Decision {
  const isFresh = evidence === 'documented' || tracking.orderId === null;
  const documentedAbsences = tracking.documentedAbsences + (isEarly(tracking, now) ? 0 : 1);
  const checked: Tracking = {
    ...tracking,
    // If `sentAt` is ahead of now, the clock was set back since the request.
    ...(tracking.sentAt !== null && tracking.sentAt > now && { sentAt: now }),
    ...(isFresh && { lastLookupAt: now }),
    ...(evidence === 'documented' && { documentedAbsences, absentAt: now }),
  };
  if (tracking.state === 'unknown') return verified(checked, evidence, now, settings);
  if (!isGivenUp(tracking, now, settings)) return unchangedUntilNext(checked, now, settings);
  const reason = 'its pre-order was not taken up within follow.giveUpAfter';
  const nextActionAt = nextRecheckAt({ state: 'abandoned', rechecks: 0 }, now, settings);
  return move(checked, 'abandoned', { source: 'lookup', reason }, { rechecks: 0, changedAt: now, nextActionAt });
}

/** True if no customer has taken up an accepted pre-order within `follow.giveUpAfter`. */
function isGivenUp({ state, changedAt, sentAt }: Tracking, now: Date, { giveUpAfter }: FollowSettings): boolean {
  const since = changedAt ?? sentAt;
  if (state !== 'accepted' || giveUpAfter === undefined || since === null) return false;
  return now.getTime() - since.getTime() >= giveUpAfter;
}

/** True at an accepted order's first look-up from 10 min after its create. If it is absent, absence proves nothing. */
export function isAcceptedAndAbsent({ state, sentAt, changedAt, lastLookupAt }: Tracking, now: Date): boolean {
  if (state !== 'accepted' || sentAt === null) return false;
  const knowableAt = after(sentAt, RESEND_NOT_BEFORE_MS);
  const since = changedAt !== null && changedAt > knowableAt ? changedAt : knowableAt;
  return now >= since && (lastLookupAt === null || lastLookupAt < since);
}

/** True if the look-up was not due, as in `sync`. Early look-ups do not count, because a few of them prove nothing. */
function isEarly({ nextActionAt }: Tracking, now: Date): boolean {
  return nextActionAt !== null && nextActionAt > now;
}

function verified(tracking: Tracking, evidence: Evidence, now: Date, settings: FollowSettings): Decision {
  if (isEarly(tracking, now)) return unchanged(tracking, {});
  const verifications = tracking.verifications + 1;
  if (evidence === 'documented' && mayResend(tracking, now, settings))
    return resent({ ...tracking, verifications }, now);
  const gapMs = plannedGapMs(verifications, settings.verifyAfter);
  if (gapMs !== undefined) return unchanged(tracking, { verifications, nextActionAt: after(now, gapMs) });
  const reason = `the outcome of the create is unknown and ${verifications} look-ups found no order; a person must ask the exchange and decide`;
  const nextActionAt = after(now, heldLookupMs(settings));
  return move(tracking, 'held', { source: 'lookup', reason }, { verifications, nextActionAt });
}

function mayResend(tracking: Tracking, now: Date, settings: FollowSettings): boolean {
  return (
    settings.onUnknown === 'resend' &&
    tracking.resends === 0 &&
    tracking.documentedAbsences >= RESEND_AFTER_ABSENCES &&
    tracking.sentAt !== null &&
    now.getTime() - tracking.sentAt.getTime() >= RESEND_NOT_BEFORE_MS
  );
}

/** Moves the order to pending by way of held, as when a person decides, and records both moves. */
function resent(tracking: Tracking, now: Date): Decision {
  const how = { source: 'lookup', reason: 'sent again once: create.onUnknown is resend' } as const;
  const held = move(tracking, 'held', how);
  const pending = move(held.tracking, 'pending', how, { resends: 1, verifications: 0, nextActionAt: now });
  return { tracking: pending.tracking, events: [...held.events, ...pending.events] };
}
