import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import { deadline } from '../../clock.ts';
import type { StatusSources } from '../../flows/reports/status.ts';
import type { Database } from '../../store/port.ts';
import type { EventStreams } from '../events/stream.ts';
import { LONGEST_WAIT_MS } from './client.ts';
import { writeEnvelope, type Result } from './envelope.ts';
import { ADDRESSES } from './operations/addresses.ts';
import { OPERATIONS, type AskedOperation } from './operations/index.ts';
import { NOT_OWNER_RESULT, schemaOf, type Accounts, type Operation } from './operations/operation.ts';
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

interface ReadDeps {
  readonly db: Database;
  readonly streams: EventStreams;
}

const TOO_MANY: Result = { kind: 'not-sent', why: 'no more streams of events are served now; ask again later' };

export function addRoutes(server: FastifyInstance, { accounts, reading, status, stopping, onRun }: Serving): void {
  server.setValidatorCompiler(validatorCompiler);
  server.setSerializerCompiler(serializerCompiler);
  addReadRoutes(server, reading);
  addStatusRoute(server, status);
  // Another process may drive the account in a moment: whoever asks goes on to it.
  const use = async (account: string) => (stopping.aborted ? undefined : await accounts.use(account));
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
        const run = async (): Promise<Result> => {
          using used = await use(account);
          return used === undefined ? NOT_OWNER_RESULT : await operation.run(used.app, input, signal);
        };
        const running = run();
        onRun(running);
        return await answer(reply, await running);
      },
    });
  }
  server.route({
    ...ADDRESSES.sync,
    schema: SYNC_SCHEMA,
    async handler({ query }, reply) {
      const { account, scope, timeoutMs } = query as SyncInput & { account: string };
      const signal = AbortSignal.any([stopping, closed(reply.raw), deadline(timeoutMs)]);
      const used = await use(account);
      if (used === undefined) return await answer(reply, NOT_OWNER_RESULT);
      return await reply.type(LINES).send(Readable.from(syncLines(used, scope, signal, onRun)));
    },
  });
}

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
        return await answer(reply, await listEvents.run(db, input));
      }
      const last = headers['last-event-id'];
      const after = typeof last === 'string' && last !== '' ? last : input.after;
      const start = await startOf(db, { ...input, after });
      if ('kind' in start || streams.isFull) {
        return await answer(reply.header('connection', 'close'), 'kind' in start ? start : TOO_MANY);
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
      const input = Object.assign({}, query, params) as { account: string; externalOrderId: string };
      return await answer(reply, await showOrder.run(deps().db, input));
    },
  });
}

async function answer(reply: FastifyReply, result: Result): Promise<FastifyReply> {
  const { httpStatus, retryAfterSeconds, body } = writeEnvelope(result);
  if (retryAfterSeconds !== undefined) void reply.header('retry-after', retryAfterSeconds);
  return await reply.code(httpStatus).type('application/json').send(body);
}

function closed(connection: NodeJS.EventEmitter): AbortSignal {
  const isClosed = new AbortController();
  connection.once('close', () => isClosed.abort());
  return isClosed.signal;
}
