import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { SEVERITIES } from '../../domain/findings/classes.ts';
import { readStatus, type StatusSources } from '../../flows/reports/status.ts';
import { writeEnvelope } from './envelope.ts';
import { ADDRESSES } from './operations/addresses.ts';
import { named, schemaOf } from './operations/operation.ts';

const time = z.string().describe('UTC, ISO 8601.');
const count = z.int().min(0);
const order = z.object({
  account: z.string(),
  externalOrderId: z.string(),
  state: z.string(),
  reason: z.string().nullable(),
  since: time,
});
const live = z.object({
  account: z.string(),
  isDriven: z.boolean().describe('False where it rests: nothing is due in it.'),
  inFlight: count.describe('Requests that have left and have not ended.'),
  answeredAt: time.nullable().describe('When the exchange last answered anything but a 5xx.'),
  breakers: z
    .object({ create: z.string(), lookup: z.string() })
    .nullable()
    .describe('The circuit breakers: closed, open or half-open; null where it rests.'),
  isTrusted: z.boolean().describe('False while another process may drive it: its lease could not be renewed.'),
  overdue: count.describe('Orders that wait for a look-up which was due.'),
  keptBack: z
    .array(z.object({ externalOrderId: z.string(), since: time, cause: z.string() }))
    .describe('A few of the orders that the database does not let the daemon write.'),
  passes: z.array(
    z.object({
      pass: z.string(),
      wantedSince: time.nullable(),
      runningSince: time.nullable(),
      goodAt: time.nullable().describe('The last one that ended well.'),
    }),
  ),
});
const daemon = z.object({
  pid: z.int(),
  version: z.string(),
  startedAt: time,
  owned: count.describe('Accounts that it owns.'),
  driven: count.describe('Accounts that it works at.'),
  rate: z
    .object({ spent: count, requests: count, intervalMs: count })
    .describe('Requests of the last time, of what the rate limits allow in one.'),
  unwritten: z.string().nullable().describe('Why it cannot write the database, so that it sends nothing.'),
  opsFailure: z.string().nullable().describe('Why the ops endpoint does not listen; null where it does, or is off.'),
  seenLate: z
    .object({ count, p50Ms: z.number(), p99Ms: z.number() })
    .describe('How late changes of orders were seen, of those that the exchange dates.'),
  overdue: z
    .object({ orders: count, since: time })
    .nullable()
    .describe('Orders that waited for a look-up which was due, at the last tick of reconcile.cron, and since when.'),
  accounts: z.array(live),
});
const receiver = z.object({
  name: z.string(),
  takenAt: time.nullable().describe('When it took the last event.'),
  failingSince: time.nullable().describe('It has taken no event since then; null while it takes them.'),
  nextTryAt: time.nullable(),
  cause: z.string().nullable(),
  oldestWaiting: time.nullable().describe('When the oldest event was recorded that it has not taken.'),
  parked: count.describe('Orders and links whose events wait behind one that it has refused.'),
  deadLetters: count,
});
const overview = z.looseObject({
  account: z.string().nullable(),
  asOf: time,
  orders: z.record(z.string(), count).describe('Orders by state.'),
  more: z.array(z.string()).describe('The states of which there are more orders than were counted.'),
  oldestPending: order.nullable(),
  oldestUnknown: order.nullable(),
  attention: z.array(order),
  findings: z.array(z.object({ class: z.string(), severity: z.enum(SEVERITIES), open: count })),
  receivers: z.array(receiver).describe('Receivers of webhooks, with the events of all accounts.'),
  lastEventAt: time.nullable(),
});
const ahead = z
  .number()
  .nullable()
  .describe('How far the clock of PostgreSQL is ahead of that of the machine, in ms; null for a file.');
const SINCE = '2026-01-05T12:00:00.000Z';
const value = named(
  'Status',
  'How order-sync does. Fields may be added.',
  z.looseObject({
    asOf: time,
    database: z.string(),
    daemon,
    driver: z.null(),
    olderState: z.null(),
    databaseAheadMs: ahead,
    overview,
  }),
  {
    asOf: SINCE,
    database: '/var/lib/order-sync/order-sync.db',
    daemon: {
      pid: 4711,
      version: '0.1.0',
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
      orders: { pending: 2, final: 1_024 },
      more: [],
      oldestPending: null,
      oldestUnknown: null,
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
  },
);

const SCHEMA = schemaOf('status', {
  tag: 'status',
  summary: 'How order-sync does: what the daemon is at, and what the database has.',
  description:
    'The account all stands for all of them together. Any process answers, whichever drives the account; nothing is asked of ' +
    'the exchange.',
  value,
  errors: ['400', '4xx', '500', '503'],
});

/** Adds the route of the status. */
export function addStatusRoute(server: FastifyInstance, sources: () => StatusSources): void {
  server.route({
    ...ADDRESSES.status,
    schema: SCHEMA,
    async handler(request, reply) {
      const { account } = request.query as { account: string };
      const status = await readStatus(sources(), account === 'all' ? undefined : account);
      const { httpStatus, body } = writeEnvelope({ kind: 'ok', body: JSON.stringify(status) });
      return await reply.code(httpStatus).type('application/json').send(body);
    },
  });
}
