import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import { deadline } from '../../clock.ts';
import { LONGEST_WAIT_MS } from './client.ts';
import { writeEnvelope } from './envelope.ts';
import { ADDRESSES } from './operations/addresses.ts';
import { OPERATIONS, type AskedOperation } from './operations/index.ts';
import type { Operation, OperationDeps } from './operations/operation.ts';
import { schemaOf } from './operations/operation.ts';
import { SYNC_SCHEMA, syncLines, type SyncInput } from './operations/sync.ts';

/** The things that the routes are served with. */
export interface Serving {
  readonly deps: () => OperationDeps;
  readonly stopping: AbortSignal;
  /** Is given each operation that runs, which settles when the operation ends. */
  readonly onRun: (running: Promise<unknown>) => void;
}

/** Adds a route for every operation of the control socket. */
export function addRoutes(server: FastifyInstance, { deps, stopping, onRun }: Serving): void {
  server.setValidatorCompiler(validatorCompiler);
  server.setSerializerCompiler(serializerCompiler);
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
        const input = Object.assign({}, operation.query && query, operation.body && body, params);
        const running = operation.run(deps(), input, signal);
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
      const { scope, timeoutMs } = query as SyncInput;
      const signal = AbortSignal.any([stopping, closed(reply.raw), deadline(timeoutMs)]);
      return await reply.type('application/x-ndjson').send(Readable.from(syncLines(deps(), scope, signal, onRun)));
    },
  });
}

/** Aborts when the connection of an answer closes. */
function closed(answer: NodeJS.EventEmitter): AbortSignal {
  const isClosed = new AbortController();
  answer.once('close', () => isClosed.abort());
  return isClosed.signal;
}
