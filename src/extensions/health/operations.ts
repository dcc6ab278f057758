import { programVersion } from '../../base/version.ts';
import { z } from 'zod';
import { quote } from '../../base/text.ts';
import { ORDER_STATES } from '../../orders/rules/states.ts';
import { done, invalid, notFound } from '../api/envelope.ts';
import { named, READ_ERRORS, reading, textParameter } from '../api/operation.ts';
import { readStatus } from './status/read-status.ts';
import { statusSchema } from './status/status.ts';

const SINCE = '2026-01-05T12:00:00.000Z';
const statusValue = named('Status', 'The status of order-sync. Fields may be added.', statusSchema, {
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
    orders: { ...Object.fromEntries(ORDER_STATES.map((state) => [state, 0])), pending: 2, final: 1_024 },
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
    otherAccounts: [],
    receivers: [],
    lastEventAt: SINCE,
    newest: [],
    accounts: [],
  },
});

const storyValue = named(
  'Story',
  'The story of an order, and the steps that follow.',
  z.object({
    schema: z.literal('order-sync.story/1'),
    externalOrderId: z.string(),
    asOf: z.string(),
    state: z.string().nullable(),
    outcome: z.string().nullable(),
    headline: z.string(),
    told: z.array(z.object({ at: z.string(), text: z.string() })),
    pace: z
      .looseObject({})
      .nullable()
      .describe('The facts that decide when the order is looked up; null if no look-up is planned.'),
    next: z.array(z.string()).describe('Sentences, and commands for a person.'),
  }),
  {
    schema: 'order-sync.story/1',
    externalOrderId: 'shop-1001',
    asOf: SINCE,
    state: 'pending',
    outcome: null,
    headline: 'It waits to be sent',
    told: [{ at: SINCE, text: 'The row was inserted into the database.' }],
    pace: null,
    next: ['It is sent when it is due.'],
  },
);

export const OPERATIONS = {
  explainOrder: reading({
    tag: 'orders',
    summary: 'The story of an order and what happens next, as `orders explain --json` prints it.',
    params: z.object({ externalOrderId: textParameter('Id of the order in your system.', 'shop-1001') }),
    value: storyValue,
    errors: [...READ_ERRORS, '404'],
    async run({ services }, { account, externalOrderId }) {
      if (services.explain === undefined) return { kind: 'not-sent', why: 'this process is starting; ask again' };
      const story = await services.explain(account, externalOrderId);
      if (story !== undefined) return done(story);
      return notFound(`there is no order ${quote(externalOrderId)} of the account ${account}`);
    },
  }),
  status: reading({
    tag: 'status',
    summary: 'The status of order-sync: the work of the daemon, and the counts of the database.',
    description:
      'The account `all` means all accounts together. Every process answers, even if another process owns the account. No ' +
      'request goes to the exchange.',
    value: statusValue,
    errors: READ_ERRORS,
    async run({ services }, { account }) {
      if (services.status === undefined) return invalid('this process has no status', 404);
      return done(await readStatus(services.status(), account === 'all' ? undefined : account));
    },
  }),
};
