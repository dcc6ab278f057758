import { CONTRADICTION_KINDS } from '../../src/orders/rules/contradictions.ts';
import { stepPace } from '../../bench/following/strategies.ts';
import type { FollowSettings, LookupAnswer } from '../../src/orders/rules/lookup.ts';
import type { RecordView } from '../../src/orders/rules/record.ts';
import type { Tracking } from '../../src/orders/rules/tracking.ts';
import { recordWith } from './records.ts';

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** The default settings of verification, and look-ups that are spaced by age alone. */
export const SETTINGS: FollowSettings = {
  verifyAfter: [
    5 * SECOND,
    15 * SECOND,
    45 * SECOND,
    2 * MINUTE,
    5 * MINUTE,
    15 * MINUTE,
    HOUR,
    4 * HOUR,
    12 * HOUR,
    DAY,
  ],
  onUnknown: 'hold',
  finalStatuses: [],
  openStatuses: ['REQUEST'],
  succeededStatuses: [],
  disputedBy: CONTRADICTION_KINDS,
  recheckFinalAfter: [HOUR, DAY, 7 * DAY],
  freshFor: Number.POSITIVE_INFINITY,
  pace: stepPace({ leastMs: 5 * SECOND, mostMs: 7 * DAY }),
};

/** A row that was just put in, with these differences. */
export function trackingWith(changes: Partial<Tracking> = {}): Tracking {
  return {
    account: 'default',
    externalOrderId: 'a',
    state: 'pending',
    stateReason: null,
    revision: 0,
    preOrderId: null,
    exchangeType: null,
    orderId: null,
    orderStatus: null,
    cryptoStatus: null,
    fiatStatus: null,
    attempts: 0,
    nextActionAt: null,
    lastLookupAt: null,
    sentAt: null,
    changedAt: null,
    modificationDate: null,
    staleDate: null,
    verifications: 0,
    resends: 0,
    rechecks: 0,
    documentedAbsences: 0,
    absentAt: null,
    adoptedAt: null,
    forbiddenIn: 0,
    outcome: null,
    oursDespite: null,
    failOver: null,
    ...changes,
  };
}

/** A record without dates whose order is new, with these differences. */
export function newRecord(changes: Partial<RecordView> = {}): RecordView {
  return recordWith({
    orderId: 'o1',
    cryptoStatus: 'NEW',
    fiatStatus: 'NEW',
    modificationDate: null,
    serverDate: null,
    ...changes,
  });
}

/** A look-up that brought such a record. */
export function found(changes: Partial<RecordView> = {}): LookupAnswer {
  return { kind: 'found', record: newRecord(changes), body: '{}' };
}
