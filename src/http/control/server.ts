import { once } from 'node:events';
import { chmodSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { parse } from 'lossless-json';
import type { Logger } from 'pino';
import { UnusableIdError } from '../../exchange/ids.ts';
import { StoreError } from '../../store/errors.ts';
import { answerOf, type OwnRefusal } from './answer.ts';
import { addRoutes } from './routes/index.ts';
import type { ControlDeps } from './routes/operation.ts';

/** Far above any request of ours. */
const MAX_BODY_BYTES = 64 * 1_024;
/** A request has this long to arrive. */
const REQUEST_MS = 10_000;
/** Longer than any id once encoded; the exchange client judges the id itself. */
const MAX_PARAMETER_LENGTH = 8_000;
/** So that a client that leaks connections leaves the daemon some file descriptors. */
const MAX_CONNECTIONS = 256;
/** Whoever may connect may do all of it. */
const OWNER_ONLY = 0o600;
/** Answers have this long to be read when the daemon stops. */
const FLUSH_MS = 1_000;

/** A control socket that is served. */
export interface ControlSocket {
  /** Takes nothing new, and returns when what runs is done, or when there is no time left for it. */
  close(): Promise<void>;
}

/**
 * Serves the control socket: what needs the exchange while a daemon owns the account goes through here. Only the owner
 * may call this, so a socket file that is there already was left by a process that is gone.
 */
export async function serveControl(
  deps: ControlDeps,
  socketPath: string,
  stopping: AbortSignal,
): Promise<ControlSocket> {
  const server = bareServer(deps.log);
  const running = new Set<Promise<unknown>>();
  addRoutes(server, {
    deps: () => deps,
    stopping,
    onRun(operation) {
      running.add(operation);
      void operation.finally(() => running.delete(operation)).catch(() => undefined);
    },
  });
  rmSync(socketPath, { force: true });
  await server.listen({ path: socketPath });
  chmodSync(socketPath, OWNER_ONLY);
  return {
    async close() {
      const { gracePeriodOver, clock } = deps;
      const isClosed = new AbortController();
      const noTimeLeft = gracePeriodOver.aborted
        ? Promise.resolve()
        : once(gracePeriodOver, 'abort', { signal: isClosed.signal }).catch(() => undefined);
      const closed = server.close();
      // Also what nobody waits for any more: an answer of the exchange that is on its way is recorded.
      await Promise.race([noTimeLeft, allDone(running)]);
      // Half a request, and an answer that nobody reads, must not keep the daemon.
      const flushed = clock.sleep(FLUSH_MS, isClosed.signal).catch(() => undefined);
      await Promise.race([noTimeLeft, closed, flushed]);
      server.server.closeAllConnections();
      await closed;
      await Promise.race([noTimeLeft, allDone(running)]);
      isClosed.abort();
    },
  };
}

async function allDone(running: ReadonlySet<Promise<unknown>>): Promise<void> {
  while (running.size > 0) await Promise.allSettled(running);
}

/** A server without routes, with the limits and the one shape of errors of the control socket. */
export function bareServer(log: Pick<Logger, 'error'>): FastifyInstance {
  const server = Fastify({
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_MS,
    // What arrives while it stops is answered as anything else: the signal has aborted.
    return503OnClosing: false,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    frameworkErrors(error, _request, reply) {
      void send(reply as FastifyReply, refusalOf(error, log));
    },
    clientErrorHandler: endConnection,
  });
  server.server.maxConnections = MAX_CONNECTIONS;
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    try {
      // Clients that send nothing where nothing is wanted may name a type all the same.
      done(null, body === '' ? undefined : parse(String(body)));
    } catch {
      // The error's own text may quote the body.
      done(Object.assign(new Error('the body is not JSON'), { statusCode: 400 }));
    }
  });
  server.setErrorHandler((error: FastifyError, _request, reply) => send(reply, refusalOf(error, log)));
  server.setNotFoundHandler(({ method, url }, reply) => {
    const message = `there is no operation ${method} ${url.split('?')[0]?.slice(0, 200)}`;
    return send(reply, { kind: 'invalid', message, httpStatus: 404 });
  });
  return server;
}

/** What is said of an error that ended a request. */
function refusalOf(error: FastifyError | Error, log: Pick<Logger, 'error'>): OwnRefusal {
  if (error instanceof UnusableIdError) return { kind: 'unusable', message: error.message, httpStatus: 400 };
  if (hasZodFastifySchemaValidationErrors(error)) {
    const context = 'validationContext' in error ? error.validationContext : 'request';
    const problems = error.validation.map(({ instancePath, message }) => `${context}${instancePath}: ${message}`);
    return { kind: 'invalid', message: problems.join('; '), httpStatus: 400 };
  }
  const statusCode = 'statusCode' in error ? (error.statusCode ?? 500) : 500;
  if (statusCode === 415) return { kind: 'invalid', message: 'send the body as application/json', httpStatus: 415 };
  if (statusCode >= 400 && statusCode < 500) return { kind: 'invalid', message: error.message, httpStatus: statusCode };
  log.error({ problem: `${error.name}: ${error.message}` }, 'an operation that was asked for failed');
  if (error instanceof StoreError) return { kind: 'failed', message: error.message, httpStatus: 503 };
  return { kind: 'failed', message: 'the daemon failed; its log says why', httpStatus: 500 };
}

function send(reply: FastifyReply, refusal: OwnRefusal): FastifyReply {
  const { httpStatus, body } = answerOf(refusal);
  return reply.code(httpStatus).type('application/json').send(body);
}

/** Answers what is no HTTP at all, or came too slowly, where there still is somebody to answer. */
function endConnection(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const httpStatus = STATUS_OF[error.code ?? ''] ?? 400;
  const { body } = answerOf({ kind: 'invalid', message: 'this is no request that can be read', httpStatus });
  const head = `HTTP/1.1 ${httpStatus} \r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`;
  socket.end(`${head}${body}`, () => socket.destroy());
}

const STATUS_OF: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
};
