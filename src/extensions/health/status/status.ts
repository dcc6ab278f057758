import { z } from 'zod';
import { RESTRAINT_KINDS } from '../../../accounts/rules/restraints.ts';
import type { KeyPlaceOf } from '../../commands/problem.ts';
import type { FeedEvent } from '../../feed/event.ts';
import { SEVERITIES } from '../../../findings/rules/classes.ts';
import { ORDER_STATES } from '../../../orders/rules/states.ts';

/** Returns the newest of the times (UTC, ISO 8601); null if there is none. */
export function newestOf(times: readonly (string | null)[]): string | null {
  return times.reduce((newest, time) => ((time ?? '') > (newest ?? '') ? time : newest), null);
}

const time = z.string().describe('UTC, ISO 8601.');
const count = z.int().min(0);
const state = z.enum(ORDER_STATES);

const namedOrder = z.object({
  account: z.string(),
  externalOrderId: z.string(),
  state,
  reason: z.string().nullable(),
  since: time,
});
export type NamedOrder = z.infer<typeof namedOrder>;

const breaker = z.enum(['closed', 'open', 'half-open']);
const liveStatus = z.object({
  account: z.string(),
  isDriven: z.boolean().describe('False if nothing is due in the account, so that the daemon does no work for it.'),
  inFlight: count.describe('Requests that have left and have not ended.'),
  answeredAt: time
    .nullable()
    .describe('When the exchange last answered a request; null if it has not since the start. A 5xx does not count.'),
  breakers: z
    .object({ create: breaker, lookup: breaker })
    .nullable()
    .describe('The circuit breakers: closed, open or half-open; null if nothing is due.'),
  isTrusted: z
    .boolean()
    .describe('False while another process may drive the account, because the lease could not be renewed.'),
  unwritten: z.string().optional().describe('Why nothing of the account can be written; absent if it can.'),
  keyUntriedSince: time
    .optional()
    .describe('When the daemon read the newest key, if the exchange has not answered a request with that key yet.'),
  overdue: count.describe('Orders whose look-up is overdue.'),
  keptBack: z
    .array(z.object({ externalOrderId: z.string(), since: time, cause: z.string() }))
    .describe('A few of the orders whose rows the daemon cannot write, because the database refuses the write.'),
  passes: z.array(
    z.object({
      pass: z.string(),
      wantedSince: time
        .nullable()
        .describe('Since when the pass has been due without a success; null if it is not due.'),
      runningSince: time.nullable(),
      goodAt: time.nullable().describe('When the pass last succeeded.'),
    }),
  ),
});
export type LiveStatus = z.infer<typeof liveStatus>;

const overdue = z.object({ orders: count, since: time });

const daemon = z.object({
  pid: z.int(),
  version: z.string(),
  startedAt: time,
  owned: count.describe('Accounts that the daemon owns.'),
  driven: count.describe('Accounts that have, or recently had, work for the daemon.'),
  rate: z
    .object({ spent: count, requests: count, intervalMs: count })
    .describe('Requests in the last interval of the rate limit, and how many the limit allows.'),
  unwritten: z
    .string()
    .nullable()
    .describe('Why the daemon cannot write the database and so sends nothing; null if it can.'),
  opsFailure: z.string().nullable().describe('Why the ops endpoint does not listen; null if it listens or is off.'),
  seenLate: z
    .object({ count, p50Ms: z.number(), p99Ms: z.number() })
    .describe('Times from a change at the exchange until the daemon saw the change, if the exchange dates it.'),
  overdue: overdue
    .nullable()
    .describe('Orders whose look-up was overdue at the last tick of reconcile.cron, and since when.'),
  changedSettings: z.string().optional().describe('The settings file, if it changed after the daemon read it.'),
  accounts: z.array(liveStatus).describe('Accounts that the daemon has driven since its start, at most 100.'),
});
export type DaemonStatus = z.infer<typeof daemon>;
export type LookupFacts = Pick<DaemonStatus, 'rate' | 'seenLate' | 'overdue'>;

const receiver = z.object({
  name: z.string(),
  takenAt: time.nullable().describe('When the receiver last accepted an event.'),
  failingSince: time.nullable().describe('Since when the receiver has accepted no event; null if it accepts events.'),
  nextTryAt: time.nullable(),
  cause: z.string().nullable(),
  oldestWaiting: time.nullable().describe('When the oldest event that waits for the receiver was recorded.'),
  parked: count.describe('Orders, links and accounts with an event that the receiver refused and that is retried.'),
  deadLetters: count.describe('Events that the receiver refused at every attempt, and that were not resent since.'),
});
export type ReceiverState = z.infer<typeof receiver>;

const openFindings = z.object({
  class: z.string(),
  severity: z.enum(SEVERITIES),
  open: count,
  decided: count
    .optional()
    .describe('Open findings that a decision of a person has settled; they only need to be acknowledged.'),
  since: time
    .optional()
    .describe('When the oldest undecided finding was first seen; absent if none was read, as for very many accounts.'),
});
export type OpenFindings = z.infer<typeof openFindings>;

const hold = z.object({
  account: z.string(),
  kind: z.enum(RESTRAINT_KINDS),
  since: time,
  until: time.nullable().describe('Null if a person must end the hold.'),
  reason: z.string(),
  actor: z.string().nullable(),
});

const lostReach = z.object({ account: z.string(), since: time, reason: z.string().nullable() });

const accountCounts = z.object({
  account: z.string(),
  orders: z.partialRecord(state, count).describe('Orders by state; a state without orders is missing.'),
  findings: z.record(z.string(), count).describe('Open findings by class.'),
});
export type AccountCounts = z.infer<typeof accountCounts>;

const overview = z.object({
  account: z.string().nullable().describe('Null for all accounts.'),
  asOf: time,
  orders: z.record(state, count).describe('Orders by state.'),
  more: z.array(state).describe('The states with more orders than were counted.'),
  oldestPending: namedOrder.nullable().describe('The order whose time to be sent came first.'),
  oldestUnknown: namedOrder.nullable().describe('The order whose outcome is unknown for the longest time.'),
  newInvalid: overdue
    .nullable()
    .describe(
      'Invalid orders that were inserted in the last 24 hours, and when the first of them was; null if there is none.',
    ),
  attention: z.array(namedOrder).describe('A few of the orders that wait for a person, the held ones first.'),
  findings: z.array(openFindings).describe('The worst first.'),
  holds: z.array(hold),
  outOfReach: z.array(lostReach).describe('Accounts for which the exchange was last recorded as out of reach.'),
  unreadable: z.array(lostReach).describe('Accounts whose order records were last recorded as unreadable.'),
  stopped: z
    .array(lostReach.extend({ kind: z.string() }))
    .describe('Accounts that are recorded as stopped, because no worker could drive them.'),
  otherAccounts: z
    .array(z.object({ account: z.string(), orders: count }))
    .describe('Accounts that the settings do not name, and how many of their rows wait; counted up to 10,000.'),
  receivers: z.array(receiver).describe('Receivers of webhooks, with the events of all accounts.'),
  lastEventAt: time.nullable(),
  accounts: z.array(accountCounts).describe('The counts of each account, sorted by the name of the account.'),
});
export interface Overview extends z.infer<typeof overview> {
  readonly newest: readonly FeedEvent[];
}

export const statusSchema = z.looseObject({
  asOf: time,
  database: z.string(),
  daemon,
  driver: z.null(),
  olderState: z.null(),
  databaseAheadMs: z
    .number()
    .nullable()
    .describe('How far the clock of PostgreSQL is ahead of that of the machine, in ms; null for SQLite.'),
  overview: overview.loose(),
});

export interface ProcessFacts {
  readonly isStopping: boolean;
  readonly databaseFailure: string | null;
  /** Migrations of this version that the database lacks. */
  readonly missingMigrations: readonly string[];
  readonly isOwner: boolean;
  readonly freeBytes: number | null;
}

export interface Reading {
  readonly asOf: string;
  readonly daemon: Pick<DaemonStatus, 'unwritten' | 'opsFailure' | 'changedSettings' | 'accounts'> | null;
  readonly driver: string | null;
  /** The sign that the database is older than its mark, or null. No daemon works on an older database. */
  readonly olderState: string | null;
  readonly databaseAheadMs: number | null;
  readonly overview: Overview | null;
  /** Names the place of a key by the settings of this process; undefined if the reading is of another machine. */
  readonly keyPlaceOf?: KeyPlaceOf | undefined;
  readonly process?: ProcessFacts;
}

export interface Status extends Reading {
  readonly database: string;
  readonly daemon: DaemonStatus | null;
  readonly overview: Overview;
}
