import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import { deadline } from '../../base/clock.ts';
import type { EventStreams } from '../feed/stream.ts';
import { LONGEST_WAIT_MS } from './client.ts';
import { writeEnvelope, type Result } from '../relay/envelope.ts';
import { ADDRESSES } from './operations/addresses.ts';
import { OPERATIONS, type AskedOperation } from './operations/index.ts';
import {
  NOT_OWNER_RESULT,
  schemaOf,
  type AccountInUse,
  type Accounts,
  type Operation,
} from './operations/operation.ts';
import {
  filterOf,
  READ_OPERATIONS,
  startOf,
  type EventsInput,
  type ReadDeps,
  type ReadOperation,
} from './operations/reading.ts';
import { SYNC_SCHEMA, syncLines, type SyncInput } from './operations/sync.ts';
import { LINES } from './transport.ts';

interface Serving extends ReadDeps {
  readonly accounts: Accounts;
  readonly streams: EventStreams;
  readonly stopping: AbortSignal;
  /** Is given each operation that runs, which settles when the operation ends. */
  readonly onRun: (running: Promise<unknown>) => void;
}

const TOO_MANY: Result = { kind: 'not-sent', why: 'no more streams of events are served now; ask again later' };

/** Adds all routes; `serving` is called when a request comes. */
export function addRoutes(server: FastifyInstance, serving: () => Serving): void {
  server.setValidatorCompiler(validatorCompiler);
  server.setSerializerCompiler(serializerCompiler);
  for (const id of Object.keys(READ_OPERATIONS) as (keyof typeof READ_OPERATIONS)[]) {
    const operation: ReadOperation = READ_OPERATIONS[id];
    server.route({
      ...ADDRESSES[id],
      schema: schemaOf(id, operation),
      async handler({ params, query, headers, raw }, reply) {
        const input = Object.assign({}, query, params) as { account: string };
        const isStream = id === 'listEvents' && raw.headers.accept?.includes('text/event-stream') === true;
        if (!isStream) return await answer(reply, await operation.run(serving(), input));
        return await stream(serving(), input as EventsInput, headers['last-event-id'], reply);
      },
    });
  }
  for (const id of Object.keys(OPERATIONS) as AskedOperation[]) {
    const operation: Operation = OPERATIONS[id];
    const { method, url } = ADDRESSES[id];
    server.route({
      method,
      url,
      schema: schemaOf(id, operation),
      async handler({ params, query, body }, reply) {
        const { stopping, onRun } = serving();
        const signal = AbortSignal.any([stopping, closed(reply.raw), deadline(LONGEST_WAIT_MS)]);
        // A part of the request that the operation does not describe was checked by nothing.
        const { account, ...fields } = query as { account: string };
        const input = Object.assign({}, fields, operation.body && body, params);
        const run = async (): Promise<Result> => {
          using used = await use(serving(), account);
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
      const { stopping, onRun } = serving();
      const { account, scope, timeoutMs } = query as SyncInput & { account: string };
      const signal = AbortSignal.any([stopping, closed(reply.raw), deadline(timeoutMs)]);
      const used = await use(serving(), account);
      if (used === undefined) return await answer(reply, NOT_OWNER_RESULT);
      return await reply.type(LINES).send(Readable.from(syncLines(used, scope, signal, onRun)));
    },
  });
}

/** Another process may drive the account in a moment: whoever asks while this one stops goes on to it. */
async function use({ accounts, stopping }: Serving, account: string): Promise<AccountInUse | undefined> {
  return stopping.aborted ? undefined : await accounts.use(account);
}

async function stream(
  { db, streams }: Serving,
  input: EventsInput,
  lastId: string | string[] | undefined,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const after = typeof lastId === 'string' && lastId !== '' ? lastId : input.after;
  const start = await startOf(db, { ...input, after });
  if ('kind' in start || streams.isFull) {
    return await answer(reply.header('connection', 'close'), 'kind' in start ? start : TOO_MANY);
  }
  void reply.hijack();
  streams.serve(reply.raw, filterOf(input), start);
  return reply;
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
