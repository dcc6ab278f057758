import { once } from 'node:events';
import { lookup } from 'node:dns/promises';
import type { AddressInfo, Socket } from 'node:net';
import Fastify from 'fastify';
import type { FastifyHttpOptions, FastifyInstance, FastifyReply, RawServerDefault } from 'fastify';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/text.ts';
import type { FlowDeps } from '../../orders/pass/deps.ts';
import { repeatEvery } from '../../orders/pass/run.ts';
import type { ListenAddress } from './settings.ts';

const FLUSH_MS = 1_000;
const TRY_AGAIN_MS = 30_000;
/** ms. A connection is closed if its TLS handshake takes longer. */
const HANDSHAKE_MS = 5_000;
const STATUS_OF_CODE: Readonly<Record<string, number>> = { ERR_HTTP_REQUEST_TIMEOUT: 408, HPE_HEADER_OVERFLOW: 431 };

export const LIMITS = {
  /** Bytes. Requests and forms of real clients are far smaller. */
  bodyLimit: 64 * 1_024,
  /** ms. A whole request must arrive within this time. */
  requestTimeout: 10_000,
  http: { headersTimeout: 5_000, connectionsCheckingInterval: 2_500 },
  /** Characters. The limit exceeds any encoded id, because the exchange client checks the id itself. */
  routerOptions: { maxParamLength: 8_000 },
};

export interface ServerOptions {
  readonly limits: Pick<
    FastifyHttpOptions<RawServerDefault>,
    'bodyLimit' | 'requestTimeout' | 'connectionTimeout' | 'keepAliveTimeout' | 'http' | 'routerOptions'
  >;
  /** Further connections are closed at once, because each connection uses a file descriptor of the daemon. */
  readonly maxConnections: number;
  readonly unreadable: (httpStatus: number, error: Error) => string;
  readonly unreadableType?: string;
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
}

/** Replaces the schema compilers of Fastify, which load three times as many modules as Fastify itself. */
function noCompiler(): never {
  throw new Error('a route has a schema, and its server no compiler');
}

export function createServer(options: ServerOptions): FastifyInstance {
  const { limits, maxConnections, unreadable, unreadableType = 'application/json', tls } = options;
  const https = { ...tls, handshakeTimeout: HANDSHAKE_MS, ...limits.http };
  const server = Fastify({
    ...limits,
    // The cast keeps the type of an HTTP server, because routes work the same with HTTPS.
    ...(tls !== undefined && ({ https } as object)),
    logger: false,
    exposeHeadRoutes: false,
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
    // While the server stops, routes still answer on open connections. Routes that must refuse check for the stop.
    return503OnClosing: false,
    frameworkErrors(error, _request, reply) {
      const httpStatus = error.statusCode ?? 400;
      void (reply as FastifyReply).code(httpStatus).type(unreadableType).send(unreadable(httpStatus, error));
    },
    clientErrorHandler: (error, socket) => answerBrokenClient(error, socket, { unreadable, unreadableType }),
  });
  server.server.maxConnections = maxConnections;
  server.removeAllContentTypeParsers();
  return server;
}

function answerBrokenClient(
  error: Error & { code?: string },
  socket: Socket,
  { unreadable, unreadableType }: Pick<ServerOptions, 'unreadable' | 'unreadableType'>,
): void {
  // Only errors of HTTP are answered, because no answer can be sent after other errors, such as errors of TLS.
  if (!/^(HPE|ERR_HTTP)_/.test(error.code ?? '') || !socket.writable) return void socket.destroy();
  const httpStatus = STATUS_OF_CODE[error.code ?? ''] ?? 400;
  const body = unreadable(httpStatus, new Error('the request cannot be read'));
  const head = `HTTP/1.1 ${httpStatus} \r\nconnection: close\r\ncontent-type: ${unreadableType}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`;
  socket.end(`${head}${body}`, () => socket.destroy());
}

export async function listenAt(server: FastifyInstance, { host, port }: ListenAddress): Promise<string> {
  // For localhost, Fastify would start a server for each address, and `server.server` is only one of them.
  const { address } = await lookup(host, { order: 'ipv4first' });
  await server.listen({ host: address, port });
  const name = host.includes(':') ? `[${host}]` : host;
  const scheme = 'setSecureContext' in server.server ? 'https' : 'http';
  return `${scheme}://${name}:${(server.server.address() as AddressInfo).port}`;
}

interface Patient extends Pick<FlowDeps, 'log' | 'clock'> {
  readonly name: string;
  readonly listen: ListenAddress;
}

/** Listens, or tries again every 30 s, because an older process or another worker may still use the address. */
export async function listenPatiently(server: FastifyInstance, patient: Patient, stopping: AbortSignal) {
  const { name, listen, log, clock } = patient;
  const state: { url?: string; failure?: string | undefined } = {};
  const listening = new AbortController();
  const begin = async () => {
    try {
      state.url = await listenAt(server, listen);
      state.failure = undefined;
      listening.abort();
      log.info({ url: state.url }, `listening for ${name}`);
    } catch (error) {
      state.failure = messageOf(error);
    }
  };
  await begin();
  const advice = `free the port, or set ${name}.listen to another one or to off`;
  const message = `${name}.listen cannot be used, and is tried again every 30 s: ${advice}`;
  if (state.failure !== undefined) log.warn({ ...listen, cause: state.failure }, message);
  const waiting = repeatEvery(clock, TRY_AGAIN_MS, AbortSignal.any([stopping, listening.signal]), begin);
  return Object.assign(state, { waiting });
}

/**
 * Closes a server. Refuses new connections, and waits for `running`, because answers of the exchange must be recorded.
 * Then unfinished requests and unread answers have 1 s. Returns at once when the grace period is over.
 */
export async function closeServer(
  server: FastifyInstance,
  running: ReadonlySet<Promise<unknown>>,
  { clock, gracePeriodOver }: { readonly clock: Clock; readonly gracePeriodOver: AbortSignal },
): Promise<void> {
  const isClosed = new AbortController();
  const noTimeLeft = gracePeriodOver.aborted
    ? Promise.resolve()
    : once(gracePeriodOver, 'abort', { signal: isClosed.signal }).catch(() => undefined);
  const closed = server.close();
  await Promise.race([noTimeLeft, allDone(running)]);
  const flushed = clock.sleep(FLUSH_MS, isClosed.signal).catch(() => undefined);
  await Promise.race([noTimeLeft, closed, flushed]);
  server.server.closeAllConnections();
  // `closeAllConnections` skips connections that are still in a TLS handshake; `HANDSHAKE_MS` ends these.
  await Promise.race([noTimeLeft, closed]);
  await Promise.race([noTimeLeft, allDone(running)]);
  isClosed.abort();
}

async function allDone(running: ReadonlySet<Promise<unknown>>): Promise<void> {
  while (running.size > 0) await Promise.allSettled(running);
}
