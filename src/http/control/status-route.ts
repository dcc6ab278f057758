import type { FastifyInstance } from 'fastify';
import { ORDER_STATES } from '../../domain/orders/states.ts';
import { readStatus, type StatusSources } from '../../flows/reports/status.ts';
import { statusSchema } from '../../reports/status/status.ts';
import { writeEnvelope } from './envelope.ts';
import { ADDRESSES } from './operations/addresses.ts';
import { named, schemaOf } from './operations/operation.ts';

const NO_ORDERS = Object.fromEntries(ORDER_STATES.map((state) => [state, 0]));
const SINCE = '2026-01-05T12:00:00.000Z';
const value = named('Status', 'How order-sync does. Fields may be added.', statusSchema, {
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
    orders: { ...NO_ORDERS, pending: 2, final: 1_024 },
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
});

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
