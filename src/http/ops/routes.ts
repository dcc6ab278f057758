import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Clock } from '../../clock.ts';
import type { Config } from '../../config/config.ts';
import type { Activities } from '../../flows/pass/activity.ts';
import type { Store } from '../../store/port.ts';
import { addDashboard } from './dashboard/routes.ts';

/** What the pages of the ops endpoint show. */
export interface OpsSources {
  readonly config: Config;
  /** The database, for any account. */
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** What the accounts of this process do. */
  readonly activities: Activities;
}

/** Adds every page of the ops endpoint. */
export function addRoutes(server: FastifyInstance, sources: OpsSources): void {
  // That it answers says it: the event loop turns.
  server.get('/livez', (_request, reply) => reply.send({ status: 'ok' }));
  addDashboard(server, sources);
}
