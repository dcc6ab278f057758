import type { FastifyInstance } from 'fastify';
import type { Database } from '../../store/port.ts';
import type { EventStreams } from '../events/stream.ts';
import { writeEnvelope, type Result } from './envelope.ts';
import { ADDRESSES } from './operations/addresses.ts';
import { schemaOf } from './operations/operation.ts';
import { filterOf, READ_OPERATIONS, startOf, type EventsInput } from './operations/reading.ts';

/** The things that are read for any account. */
export interface ReadDeps {
  readonly db: Database;
  readonly streams: EventStreams;
}

const TOO_MANY: Result = { kind: 'not-sent', why: 'no more streams of events are served now; ask again later' };

/** Adds the routes that read the database: no process need drive the account. */
export function addReadRoutes(server: FastifyInstance, deps: () => ReadDeps): void {
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
