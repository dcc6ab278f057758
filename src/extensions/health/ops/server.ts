import type { FastifyInstance } from 'fastify';
import { messageOf } from '../../../base/text.ts';
import { MOST_STREAMS } from '../../feed/stream.ts';
import { closeServer, createServer, LIMITS, listenPatiently } from '../../http/server.ts';
import { healthSettings } from '../settings.ts';
import { guard } from './guard.ts';
import { addDashboard } from '../dashboard/routes.ts';
import type { Metrics } from './metrics.ts';
import { checkReadiness } from './readiness.ts';
import { newReadings, type OpsPages, type OpsSources } from './readings.ts';

/** The most connections besides streams of events, so that open dashboards leave connections for `/livez`. */
const MAX_CONNECTIONS = 128;

export interface OpsDeps extends OpsSources {
  readonly gracePeriodOver: AbortSignal;
  readonly version: string;
}

/** `failure` says why the endpoint does not listen, and changes while the endpoint tries again. */
export async function serveOps(deps: OpsDeps, stopping: AbortSignal) {
  const { config, clock } = deps;
  const { listen } = healthSettings.of(config).ops;
  if (listen === undefined) return { url: undefined, failure: undefined, close: async () => {} };
  // The import is lazy, because only a listening endpoint has metrics.
  const { startMetrics } = await import('./metrics.ts');
  const pages = { ...deps, readings: newReadings(deps), startedAt: clock.now().toISOString() };
  const metrics = startMetrics(pages);
  const server = opsServer(pages, metrics, stopping);
  const listening = await listenPatiently(server, { ...deps, name: 'ops', listen }, stopping);
  return Object.assign(listening, {
    close: async () => {
      await listening.waiting;
      metrics[Symbol.dispose]();
      await closeServer(server, new Set(), deps);
    },
  });
}

function opsServer(pages: OpsPages, metrics: Metrics, stopping: AbortSignal): FastifyInstance {
  const unreadable = () => JSON.stringify({ status: 'refused', reason: 'the request cannot be read' });
  const server = createServer({
    limits: { ...LIMITS, keepAliveTimeout: 5_000 },
    maxConnections: MAX_CONNECTIONS + MOST_STREAMS,
    unreadable,
  });
  guard(server, healthSettings.of(pages.config).ops);
  server.addHook('onRequest', async (_request, reply) => {
    if (stopping.aborted) reply.header('connection', 'close');
  });
  server.setErrorHandler((error, _request, reply) => {
    const httpStatus = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
    if (httpStatus < 500)
      return reply.code(httpStatus).send({ status: 'refused', reason: 'this request is not valid' });
    pages.log.error({ cause: messageOf(error) }, 'a page of the ops endpoint failed');
    return reply.code(500).send({ status: 'failed', reason: 'the daemon failed; its log says why' });
  });
  // Any answer shows that the event loop is not blocked.
  server.get('/livez', (_request, reply) => reply.send({ status: 'ok' }));
  server.get('/readyz', async (_request, reply) => {
    const checks = await checkReadiness(pages, stopping.aborted);
    const isReady = checks.every(({ ok }) => ok);
    return reply.code(isReady ? 200 : 503).send({ status: isReady ? 'ok' : 'not-ready', checks });
  });
  server.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()));
  // The dashboard has a scope of its own, because it answers refusals with pages.
  void server.register(async (scope) => addDashboard(scope, pages, stopping));
  return server;
}
