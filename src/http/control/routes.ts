import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import { deadline } from '../../clock.ts';
import { LONGEST_WAIT_MS } from './client.ts';
import type { StatusSources } from '../../flows/reports/status.ts';
import { writeEnvelope, type Result } from './envelope.ts';
import { ADDRESSES } from './operations/addresses.ts';
import { NOT_OWNER_RESULT } from './operations/errors.ts';
import { OPERATIONS, type AskedOperation } from './operations/index.ts';
import type { Accounts, Operation, OperationDeps } from './operations/operation.ts';
import { schemaOf } from './operations/operation.ts';
import { addReadRoutes, type ReadDeps } from './read-routes.ts';
import { SYNC_SCHEMA, syncLines, type SyncInput } from './operations/sync.ts';
import { addStatusRoute } from './status-route.ts';
import { LINES } from './transport.ts';

/** The things that the routes are served with. */
export interface Serving {
  readonly accounts: Accounts;
  /** Gives what is read without an owner. */
  readonly reading: () => ReadDeps;
  readonly status: () => StatusSources;
  readonly stopping: AbortSignal;
  /** Is given each operation that runs, which settles when the operation ends. */
  readonly onRun: (running: Promise<unknown>) => void;
}

/** Adds a route for every operation of the control socket. */
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

/** Aborts when the connection of an answer closes. */
function closed(answer: NodeJS.EventEmitter): AbortSignal {
  const isClosed = new AbortController();
  answer.once('close', () => isClosed.abort());
  return isClosed.signal;
}
