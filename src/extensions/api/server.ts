import { once } from 'node:events';
import { chmodSync, lstatSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import type { FastifyError, FastifyInstance } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { parse } from 'lossless-json';
import type { Logger } from 'pino';
import type { Extension } from '../../cli/extension.ts';
import { UnusableIdError } from '../../exchange/ids.ts';
import type { FlowDeps } from '../../orders/pass/deps.ts';
import { ConfigError } from '../../settings/config.ts';
import { StoreError } from '../../store/errors.ts';
import { closeServer, createServer, LIMITS, type ServerOptions } from '../http/server.ts';
import { SOCKET_CALLER } from './caller.ts';
import { invalid, PROBLEM_TYPE, writeEnvelope, type OwnRefusal } from './envelope.ts';
import type { Accounts, ReadDeps } from './operation.ts';
import { addRoutes, answer } from './routes.ts';
import { unusableSocket } from './asking/transport.ts';

/** A client that reads nothing of its answer for this time is disconnected. */
const UNREAD_MS = 30_000;
/** Twice the limit of event streams, so that other requests still have connections. */
const MAX_CONNECTIONS = 512;
/** The mode of the socket's file. Only the daemon's user may connect, because the socket allows all operations. */
const OWNER_ONLY = 0o600;

export interface Served extends Accounts, Omit<ReadDeps, 'stopping'>, Pick<FlowDeps, 'log' | 'gracePeriodOver'> {
  readonly extensions: readonly Extension[];
}

/** Replaces a dead socket, and throws `ConfigError` for a live one. `close` waits until the grace period is over. */
export async function serveControl(served: Served, socketPath: string, stopping: AbortSignal) {
  if (await isListenedTo(socketPath)) {
    const advice = 'stop that process (if none runs, remove the file), or name another path';
    throw new ConfigError(`control.socket: another process uses ${socketPath}; ${advice}`);
  }
  const server = controlServer(served.log);
  server.addHook('onRequest', async (request) => void (request.caller = SOCKET_CALLER));
  const close = await serveOperations(server, served, stopping);
  try {
    removeSocket(socketPath);
    await server.listen({ path: socketPath });
    chmodSync(socketPath, OWNER_ONLY);
  } catch (error) {
    throw unusableSocket(socketPath, error);
  }
  return {
    async close(): Promise<void> {
      // Clients that have connected are still served, because otherwise they would not know what their requests did.
      removeSocket(socketPath);
      for (let turns = 0; turns < 2; turns += 1) await served.clock.turn();
      await close();
    },
  };
}

/** Adds all operations to a server. The returned function waits for running operations, then closes the server. */
export async function serveOperations(server: FastifyInstance, served: Served, stopping: AbortSignal) {
  const running = new Set<Promise<unknown>>();
  const serving = {
    ...served,
    stopping,
    onRun(operation: Promise<unknown>) {
      running.add(operation);
      void operation.finally(() => running.delete(operation)).catch(() => undefined);
    },
  };
  await addRoutes(server, served.extensions, serving);
  return () => closeServer(server, running, served);
}

export async function isListenedTo(path: string): Promise<boolean> {
  const socket = createConnection(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    // With any other error, a process may still listen at the path.
    return !['ENOENT', 'ECONNREFUSED', 'ENOTDIR', 'ENOTSOCK'].includes((error as NodeJS.ErrnoException).code ?? '');
  } finally {
    socket.destroy();
  }
}

/** Removes a socket at a path. Any other file stays, because `control.socket` may name that file by mistake. */
function removeSocket(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true) rmSync(path, { force: true });
}

export function controlServer(log: Pick<Logger, 'error'>, tls?: ServerOptions['tls']): FastifyInstance {
  const server = createServer({
    limits: LIMITS,
    maxConnections: MAX_CONNECTIONS,
    unreadable: (httpStatus, { message }) => writeEnvelope(invalid(message, httpStatus)).body,
    unreadableType: PROBLEM_TYPE,
    tls,
  });
  const routes: { readonly method: string; readonly path: RegExp }[] = [];
  server.addHook('onRoute', ({ method, url }) => {
    routes.push({ method: String(method), path: new RegExp(`^${url.replaceAll(/:\w+/g, '[^/]*')}$`) });
  });
  server.addHook('onSend', async ({ raw: { socket } }, _reply, payload) => {
    // Only a complete answer has this limit, because a stream of lines or events may pause for longer.
    if (typeof payload === 'string') socket.setTimeout(UNREAD_MS);
  });
  server.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    try {
      // A client may send a content type without a body.
      done(null, body === '' ? undefined : parse(String(body)));
    } catch {
      // The message of the parser is not shown, because it may quote the body.
      done(Object.assign(new Error('the body is not JSON, or has a key twice'), { statusCode: 400 }));
    }
  });
  server.setErrorHandler((error: FastifyError, _request, reply) => answer(reply, refusalOf(error, log)));
  server.setNotFoundHandler(({ method, url }, reply) => {
    const [path = ''] = url.split('?');
    const methods = routes.filter((route) => route.path.test(path)).map((route) => route.method);
    if (methods.length === 0)
      return answer(reply, invalid(`there is no operation ${method} ${path.slice(0, 200)}`, 404));
    const allowed = [...new Set(methods)].toSorted().join(', ');
    const refusal = invalid(`the methods of this path are ${allowed}`, 405, 'method-not-allowed');
    return answer(reply.header('allow', allowed), refusal);
  });
  return server;
}

function refusalOf(error: FastifyError, log: Pick<Logger, 'error'>): OwnRefusal {
  const { message, statusCode = 500 } = error;
  if (error instanceof UnusableIdError) return { kind: 'unusable', message, httpStatus: 400 };
  if (hasZodFastifySchemaValidationErrors(error)) {
    const context = error.validationContext ?? 'request';
    const problems = error.validation.map((problem) => `${context}${problem.instancePath}: ${problem.message}`);
    return invalid(problems.join('; '));
  }
  if (statusCode === 415) return invalid('send the body as application/json', 415);
  if (statusCode >= 400 && statusCode < 500) return invalid(message, statusCode);
  log.error({ cause: `${error.name}: ${message}` }, 'an operation of the API failed');
  if (!(error instanceof StoreError))
    return { kind: 'failed', message: 'the daemon failed; its log says why', httpStatus: 500 };
  // If the cause is a `StoreError`, the work may be done and its result lost. A 503 would invite a retry.
  return { kind: 'failed', message, httpStatus: error.cause instanceof StoreError ? 500 : 503 };
}
