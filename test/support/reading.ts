import { ORDER_STATES } from '../../src/orders/rules/states.ts';
import type {
  Overview,
  ReceiverState,
  LiveStatus,
  ProcessFacts,
  Reading,
} from '../../src/extensions/health/status/status.ts';

/** The time of the readings below. */
export const READ_AT = '2026-03-04T13:37:42.000Z';

/** A receiver of webhooks that takes all that it is sent. */
export function receiverState(changes: Partial<ReceiverState> = {}): ReceiverState {
  const well = { takenAt: READ_AT, failingSince: null, nextTryAt: null, cause: null, oldestWaiting: null };
  return { name: 'shop', ...well, parked: 0, deadLetters: 0, ...changes };
}

/** An overview of an account of which nothing is wrong; of all accounts if `account` is null. */
export function overviewOf({
  orders,
  ...changes
}: Omit<Partial<Overview>, 'orders'> & { readonly orders?: Partial<Overview['orders']> } = {}): Overview {
  const none = Object.fromEntries(ORDER_STATES.map((state) => [state, 0])) as Overview['orders'];
  return {
    account: 'default',
    asOf: READ_AT,
    orders: { ...none, ...orders },
    more: [],
    oldestPending: null,
    oldestUnknown: null,
    newInvalid: null,
    attention: [],
    findings: [],
    holds: [],
    outOfReach: [],
    unreadable: [],
    stopped: [],
    otherAccounts: [],
    receivers: [],
    lastEventAt: READ_AT,
    newest: [],
    accounts: [],
    ...changes,
  };
}

/** The reading of a daemon in an account in which nothing is wrong. */
export function liveStatus(changes: Partial<LiveStatus> = {}): LiveStatus {
  const well = { isDriven: true, inFlight: 0, answeredAt: READ_AT, breakers: null, passes: [], isTrusted: true };
  return { account: 'default', overdue: 0, keptBack: [], ...well, ...changes };
}

/** A process of which nothing is wrong. */
export function processFacts(changes: Partial<ProcessFacts> = {}): ProcessFacts {
  const well = { isStopping: false, databaseFailure: null, missingMigrations: [], isOwner: true, freeBytes: 1e12 };
  return { ...well, ...changes };
}

/** A reading that a daemon made, of which nothing is wrong. */
export function readingOf(changes: Partial<Reading> = {}): Reading {
  return {
    asOf: READ_AT,
    daemon: { unwritten: null, opsFailure: null, accounts: [] },
    driver: null,
    olderState: null,
    databaseAheadMs: null,
    overview: overviewOf(),
    process: processFacts(),
    ...changes,
  };
}
