import type { FastifyInstance } from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import { deadline } from '../../../clock.ts';
import { answerOf } from '../answer.ts';
import { CLIENT_OPERATIONS } from './clients.ts';
import { schemaOf } from './document.ts';
import { LINK_OPERATIONS } from './links.ts';
import type { Serving } from './operation.ts';
import { ORDER_OPERATIONS } from './orders.ts';
import { addSync } from './sync.ts';

const OPERATIONS = [...CLIENT_OPERATIONS, ...ORDER_OPERATIONS, ...LINK_OPERATIONS];
/** What has had no turn by then is not sent any more: who asked has probably given it up. */
const LONGEST_WAIT_MS = 60_000;

/** Adds every operation of the control socket to a server. */
export function addRoutes(server: FastifyInstance, serving: Serving): void {
  const { deps, stopping, onRun } = serving;
  server.setValidatorCompiler(validatorCompiler);
  server.setSerializerCompiler(serializerCompiler);
  for (const operation of OPERATIONS) {
    const { method, url } = operation;
    server.route({
      method,
      url,
      schema: schemaOf(operation),
      async handler({ params, query, body }, reply) {
        const isGone = new AbortController();
        reply.raw.once('close', () => isGone.abort());
        const signal = AbortSignal.any([stopping, isGone.signal, deadline(LONGEST_WAIT_MS)]);
        const running = operation.run(deps(), { params, query, body }, signal);
        onRun(running);
        const answer = answerOf(await running);
        if (answer.retryAfterSeconds !== undefined) void reply.header('retry-after', answer.retryAfterSeconds);
        return await reply.code(answer.httpStatus).type('application/json').send(answer.body);
      },
    });
  }
  addSync(server, serving);
}
