import { rmSync } from 'node:fs';
import { Readable } from 'node:stream';
import Fastify, { type FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import { deadline } from '../clock.ts';
import type { ReadAnswer } from '../exchange/client.ts';
import { UnusableIdError } from '../exchange/ids.ts';
import type { FollowScope } from '../flows/follow.ts';
import { syncOnce, type SyncResult } from '../flows/sync.ts';
import type { Counts } from '../flows/tally.ts';

const PROGRESS_MS = 250;

/** A line of the answer of `POST /sync`. */
export type SyncLine =
  | { readonly type: 'progress'; readonly counts: Counts }
  | ({ readonly type: 'result' } & SyncResult)
  | { readonly type: 'error'; readonly message: string };

/**
 * Serves the control socket: what needs the exchange while a daemon owns the account goes through here. Only the owner
 * may call this, so a socket file that is there already was left by a process that is gone.
 */
export async function serveControl(app: App, socketPath: string, stopping: AbortSignal): Promise<FastifyInstance> {
  const server = Fastify({ logger: false, forceCloseConnections: true });
  server.post<{ Querystring: { scope?: string; timeoutMs?: string } }>('/sync', async (request, reply) => {
    const scope: FollowScope = request.query.scope === 'due' ? 'due' : 'all';
    const timeoutMs = Number(request.query.timeoutMs ?? 600_000);
    const isGone = new AbortController();
    reply.raw.once('close', () => isGone.abort());
    const signal = AbortSignal.any([stopping, isGone.signal, deadline(timeoutMs)]);
    return await reply.type('application/x-ndjson').send(Readable.from(syncLines(app, scope, signal)));
  });
  server.get<{ Querystring: { externalOrderId: string } }>('/orders', async (request) => {
    return await app.exchange.showOrder(request.query.externalOrderId, stopping);
  });
  server.get<{ Params: { id: string } }>('/pre-orders/:id', async (request, reply): Promise<ReadAnswer> => {
    try {
      return await app.exchange.showPreOrder(request.params.id, stopping);
    } catch (error) {
      if (!(error instanceof UnusableIdError)) throw error;
      return await reply.code(400).send({ kind: 'unusable-id', message: error.message });
    }
  });
  rmSync(socketPath, { force: true });
  await server.listen({ path: socketPath });
  return server;
}

async function* syncLines(app: App, scope: FollowScope, signal: AbortSignal): AsyncGenerator<string> {
  let counts: Readonly<Counts> | undefined;
  let last: SyncLine | undefined;
  const running = syncOnce(app, scope, signal, (now) => (counts = now))
    .then((result) => (last = { type: 'result', ...result }))
    .catch((error: unknown) => {
      app.log.error({ problem: String(error) }, 'a pass that was asked for failed');
      last = { type: 'error', message: error instanceof Error ? error.message : 'the pass failed' };
    });
  while (last === undefined) {
    await Promise.race([running, app.clock.sleep(PROGRESS_MS)]);
    if (last === undefined && counts !== undefined) yield line({ type: 'progress', counts: { ...counts } });
  }
  yield line(last);
}

function line(value: SyncLine): string {
  return `${JSON.stringify(value)}\n`;
}
