import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import { deadline } from '../../clock.ts';
import type { StatusSources } from '../../flows/reports/status.ts';
import type { Database } from '../../store/port.ts';
import type { EventStreams } from '../events/stream.ts';
import { LONGEST_WAIT_MS } from './client.ts';
import { writeEnvelope, type Result } from './envelope.ts';
import { ADDRESSES } from './operations/addresses.ts';
import { OPERATIONS, type AskedOperation } from './operations/index.ts';
import {
  NOT_OWNER_RESULT,
  type Accounts,
  type Operation,
  type OperationDeps,
  schemaOf,
} from './operations/operation.ts';
import { filterOf, READ_OPERATIONS, startOf, type EventsInput } from './operations/reading.ts';
import { SYNC_SCHEMA, syncLines, type SyncInput } from './operations/sync.ts';
import { addStatusRoute } from './status-route.ts';
import { LINES } from './transport.ts';

interface Serving {
  readonly accounts: Accounts;
  /** Gives what is read without an owner. */
  readonly reading: () => ReadDeps;
  readonly status: () => StatusSources;
  readonly stopping: AbortSignal;
  /** Is given each operation that runs, which settles when the operation ends. */
  readonly onRun: (running: Promise<unknown>) => void;
}

export function addRoutes(server: FastifyInstance, { accounts, reading, status, stopping, onRun }: Serving): void {
  server.setValidatorCompiler(validatorCompiler);
  server.setSerializerCompiler(serializerCompiler);
  addReadRoutes(server, reading);
  addStatusRoute(server, status);
  for (const id of Object.keys(OPERATIONS) as AskedOperation[]) {
    const operation: Operation = OPERATIONS[id];
    const { method, url } = ADDRESSES[id];
    server.route({
      method,
      url,
      schema: schemaOf(id, operation),
      async handler({ params, query, body }, reply) {
        const signal = AbortSignal.any([stopping, closed(reply.raw), deadline(LONGEST_WAIT_MS)]);
        // A part of the request that the operation does not describe was checked by nothing.
        const { account, ...fields } = query as { account: string };
        const input = Object.assign({}, fields, operation.body && body, params);
        const running = withAccount({ accounts, stopping }, account, (app) => operation.run(app, input, signal));
        onRun(running);
        const envelope = writeEnvelope(await running);
        if (envelope.retryAfterSeconds !== undefined) void reply.header('retry-after', envelope.retryAfterSeconds);
        return await reply.code(envelope.httpStatus).type('application/json').send(envelope.body);
      },
    });
  }
  server.route({
    ...ADDRESSES.sync,
    schema: SYNC_SCHEMA,
    async handler({ query }, reply) {
      const { account, scope, timeoutMs } = query as SyncInput & { account: string };
      const signal = AbortSignal.any([stopping, closed(reply.raw), deadline(timeoutMs)]);
      const used = stopping.aborted ? undefined : await accounts.use(account);
      if (used === undefined) {
        return await reply.type('application/json').code(421).send(writeEnvelope(NOT_OWNER_RESULT).body);
      }
      return await reply.type(LINES).send(Readable.from(syncLines(used, scope, signal, onRun)));
    },
  });
}

async function withAccount(
  { accounts, stopping }: Pick<Serving, 'accounts' | 'stopping'>,
  account: string,
  work: (app: OperationDeps) => Promise<Result>,
): Promise<Result> {
  // Another process may drive the account in a moment: whoever asks goes on to it.
  using used = stopping.aborted ? undefined : await accounts.use(account);
  return used === undefined ? NOT_OWNER_RESULT : await work(used.app);
}

function closed(answer: NodeJS.EventEmitter): AbortSignal {
  const isClosed = new AbortController();
  answer.once('close', () => isClosed.abort());
  return isClosed.signal;
}

interface ReadDeps {
  readonly db: Database;
  readonly streams: EventStreams;
}

const TOO_MANY: Result = { kind: 'not-sent', why: 'no more streams of events are served now; ask again later' };

/** Adds the routes that read the database: no process need drive the account. */
function addReadRoutes(server: FastifyInstance, deps: () => ReadDeps): void {
  const { listEvents, showOrder } = READ_OPERATIONS;
  server.route({
    ...ADDRESSES.listEvents,
    schema: schemaOf('listEvents', listEvents),
    async handler({ query, headers, raw }, reply) {
      const { db, streams } = deps();
      const input = query as EventsInput;
      if (raw.headers.accept?.includes('text/event-stream') !== true) {
        const { httpStatus, body } = writeEnvelope(await listEvents.run(db, input));
        return await reply.code(httpStatus).type('application/json').send(body);
      }
      const last = headers['last-event-id'];
      const after = typeof last === 'string' && last !== '' ? last : input.after;
      const start = await startOf(db, { ...input, after });
      if ('kind' in start || streams.isFull) {
        const { httpStatus, body } = writeEnvelope('kind' in start ? start : TOO_MANY);
        return await reply.code(httpStatus).type('application/json').header('connection', 'close').send(body);
      }
      void reply.hijack();
      streams.serve(reply.raw, filterOf(input), start);
      return reply;
    },
  });
  server.route({
    ...ADDRESSES.showOrder,
    schema: schemaOf('showOrder', showOrder),
    async handler({ params, query }, reply) {
      const input = { ...(params as { externalOrderId: string }), account: (query as { account: string }).account };
      const { httpStatus, body } = writeEnvelope(await showOrder.run(deps().db, input));
      return await reply.code(httpStatus).type('application/json').send(body);
    },
  });
}
