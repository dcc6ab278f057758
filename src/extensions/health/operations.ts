import { programVersion } from '../../base/version.ts';
import { ORDER_STATES } from '../../orders/rules/states.ts';
import { done, invalid } from '../api/envelope.ts';
import { named, READ_ERRORS, reading } from '../api/operation.ts';
import { readStatus } from './status/read-status.ts';
import { statusSchema } from './status/status.ts';

const NO_ORDERS = Object.fromEntries(ORDER_STATES.map((state) => [state, 0]));
const SINCE = '2026-01-05T12:00:00.000Z';
const statusValue = named('Status', 'How order-sync does. Fields may be added.', statusSchema, {
  asOf: SINCE,
  database: '/var/lib/order-sync/order-sync.db',
  daemon: {
    pid: 4711,
    version: programVersion(),
    startedAt: SINCE,
    owned: 1,
    driven: 1,
    rate: { spent: 13, requests: 100, intervalMs: 10_000 },
    unwritten: null,
    opsFailure: null,
    seenLate: { count: 20, p50Ms: 2_400, p99Ms: 19_000 },
    overdue: null,
    accounts: [],
  },
  driver: null,
  olderState: null,
  databaseAheadMs: null,
  overview: {
    account: 'default',
    asOf: SINCE,
    orders: { ...NO_ORDERS, pending: 2, final: 1_024 },
    more: [],
    oldestPending: null,
    oldestUnknown: null,
    newInvalid: null,
    attention: [],
    findings: [{ class: 'STUCK', severity: 'warning', open: 1 }],
    holds: [],
    outOfReach: [],
    unreadable: [],
    stopped: [],
    receivers: [],
    lastEventAt: SINCE,
    newest: [],
    accounts: [],
  },
});

export const OPERATIONS = {
  status: reading({
    tag: 'status',
    summary: 'How order-sync does: what the daemon is at, and what the database has.',
    description:
      'The account all stands for all of them together. Any process answers, whichever drives the account; nothing is asked of ' +
      'the exchange.',
    value: statusValue,
    errors: READ_ERRORS,
    async run({ services }, { account }) {
      if (services.status === undefined) return invalid('this process has no status', 404);
      return done(await readStatus(services.status(), account === 'all' ? undefined : account));
    },
  }),
};
