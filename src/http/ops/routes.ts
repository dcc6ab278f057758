import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Clock } from '../../clock.ts';
import type { Config } from '../../config/config.ts';
import type { Activities } from '../../flows/pass/activity.ts';
import type { Store } from '../../store/port.ts';
import { addDashboard } from './dashboard/routes.ts';
import type { Metrics } from './metrics/metrics.ts';
import { checkReadiness } from './readiness.ts';
import type { Readings } from './readings.ts';

/** What the pages of the ops endpoint show. */
export interface OpsSources {
  readonly config: Config;
  /** The database, for any account. */
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** The names of the accounts that this process owns. */
  readonly accounts: { readonly names: readonly string[] };
  /** Is called when a person has decided something in an account. */
  readonly heedDecision: (account: string) => Promise<void>;
  /** What the accounts of this process do. */
  readonly activities: Activities;
}

/** What is made of it once, however many ask. */
export interface OpsPages extends OpsSources {
  readonly readings: Readings;
  readonly metrics: Metrics;
}

/** Adds every page of the ops endpoint. */
export function addRoutes(server: FastifyInstance, pages: OpsPages, stopping: AbortSignal): void {
  const { metrics } = pages;
  // That it answers says it: the event loop turns.
  server.get('/livez', (_request, reply) => reply.send({ status: 'ok' }));
  server.get('/readyz', async (_request, reply) => {
    const checks = await checkReadiness(pages, stopping.aborted);
    const isReady = checks.every(({ ok }) => ok);
    return reply.code(isReady ? 200 : 503).send({ status: isReady ? 'ok' : 'not-ready', checks });
  });
  server.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()));
  addDashboard(server, pages, stopping);
}
