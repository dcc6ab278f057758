import type { IncomingMessage, ServerResponse } from 'node:http';
import multipart from '@fastify/multipart';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ConfigError, type Config } from '../../settings/config.ts';
import type { ListenAddress } from '../http/settings.ts';
import { clientsSettings, type PhotoSettings } from './settings.ts';
import { StoreError } from '../../store/errors.ts';
import type { Clock } from '../../base/clock.ts';
import { DeliveryRefusal, type DeliveryPart } from './photo-delivery.ts';
import { acceptDelivery, photosPurge, sweepPhotos, type DeliveryDeps } from './photos.ts';
import type { ServiceMaker } from '../../daemon.ts';
import { addPurge } from '../commands/purges.ts';
import type { FlowDeps } from '../../orders/pass/deps.ts';
import { repeatEvery } from '../../orders/pass/run.ts';
import { closeServer, createServer, listenAt } from '../http/server.ts';

/** The most parts of a delivery beside its files: `details`, and unknown parts. */
const OTHER_PARTS = 8;
const HEADERS_MS = 10_000;
const KEEP_ALIVE_MS = 5_000;
const MAX_CONNECTIONS = 128;
const UNREADABLE = 'the request cannot be read';
const RETRY_AFTER_S = 10;

const STATUS_OF = { unreadable: 400, forbidden: 403, 'too-slow': 408, 'too-large': 413, busy: 503 } as const;

type ReceiverDeps = DeliveryDeps & Pick<FlowDeps, 'gracePeriodOver'> & { readonly config: Pick<Config, 'database'> };

export type PhotoReceiver = Awaited<ReturnType<typeof servePhotos>>;

/**
 * Receives the photos that the exchange delivers (§6). The only route is `POST /photos`. Throws `ConfigError` if the
 * address cannot be used. `close` refuses new deliveries and waits for running deliveries. When the grace period is
 * over, `close` cuts them off.
 */
export async function servePhotos(deps: ReceiverDeps, listen: ListenAddress, stopping: AbortSignal) {
  const running = new Set<Promise<unknown>>();
  const swept = Promise.withResolvers<void>();
  const server = await receivingServer(deps, stopping, running, swept.promise);
  const origin = await listenOn(server, listen);
  try {
    // No other process of this machine listens at the address, so none has a delivery in quarantine.
    await sweepPhotos(deps);
    swept.resolve();
  } catch (error) {
    swept.promise.catch(() => undefined);
    swept.reject(error);
    await server.close();
    throw error;
  }
  const url = `${origin}/photos`;
  deps.log.info({ url }, 'listening for photos');
  let closed: Promise<void> | undefined;
  const close = () =>
    // A delivery that was cut off still removes its files, so `close` waits for it.
    (closed ??= closeServer(server, running, deps).then(async () => void (await Promise.allSettled(running))));
  return { url, close, [Symbol.asyncDispose]: close };
}

async function receivingServer(deps: ReceiverDeps, stopping: AbortSignal, running: Set<unknown>, swept: Promise<void>) {
  const { config, clock } = deps;
  const { photos } = clientsSettings.of(config);
  const server = createServer({
    limits: {
      connectionTimeout: photos.timeout,
      keepAliveTimeout: KEEP_ALIVE_MS,
      http: { headersTimeout: HEADERS_MS, connectionsCheckingInterval: HEADERS_MS / 2 },
    },
    maxConnections: MAX_CONNECTIONS,
    unreadable: () => JSON.stringify({ status: 'refused', reason: UNREADABLE }),
  });
  await server.register(multipart, {
    // All parts are read as files, because `details` may come as a file or as a field.
    isPartAFile: () => true,
    throwFileSizeLimit: false,
    // One byte above the limit is read, so that a file that is too large is noticed.
    limits: { parts: photos.maxFiles + OTHER_PARTS, fileSize: photos.maxFileBytes + 1 },
  });
  const uploads = new WeakMap<FastifyRequest, Upload>();
  server.addHook('onRequest', async (request, reply) => {
    uploads.set(request, boundUpload(request.raw, reply.raw, photos, clock));
    await swept;
  });
  server.addHook('onSend', async (_request, reply) => {
    if (stopping.aborted) reply.header('connection', 'close');
  });
  server.addHook('onResponse', async (request) => uploads.get(request)?.discard());
  server.setNotFoundHandler((_request, reply) => refuse(reply, 404, 'this address takes POST /photos only'));
  server.setErrorHandler((error, _request, reply) => {
    if (error instanceof DeliveryRefusal) {
      deps.log.warn({ refused: error.kind, cause: error.message }, 'a photo delivery was refused');
      return refuse(reply, STATUS_OF[error.kind], error.message);
    }
    const httpStatus = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
    if (httpStatus === 415) return refuse(reply, 415, 'the body must be multipart/form-data');
    if (httpStatus < 500) return refuse(reply, httpStatus, UNREADABLE);
    return fail(deps, reply, error);
  });
  server.post('/photos', async (request, reply) => {
    const upload = uploads.get(request);
    if (upload === undefined) throw new Error('the request was not bounded');
    if (stopping.aborted) throw new DeliveryRefusal('busy', 'the receiver stops');
    const isFull = running.size >= photos.concurrency;
    if (isFull) throw new DeliveryRefusal('busy', 'there are too many deliveries at the same time');
    upload.check(Number(request.headers['content-length'] ?? 0));
    const delivery = acceptDelivery(deps, partsOf(request, upload)).finally(() => running.delete(delivery));
    running.add(delivery);
    return reply.send({ status: await delivery });
  });
  return server;
}

/** Yields the parts of a delivery. Throws `DeliveryRefusal` if the form is incomplete or exceeds a limit. */
async function* partsOf(request: FastifyRequest, upload: Upload): AsyncGenerator<DeliveryPart> {
  // A closed connection emits no more events, so the parts would never end.
  if (upload.failure !== undefined || request.raw.destroyed) throw refusalOf(undefined, upload);
  for await (const part of refusing(request.parts(), upload)) {
    if (part.type !== 'file') continue;
    yield { name: part.fieldname, filename: part.filename, bytes: refusing<Uint8Array>(part.file, upload) };
  }
}

async function* refusing<Item>(items: AsyncIterable<Item>, upload: Upload): AsyncGenerator<Item> {
  try {
    yield* items;
  } catch (error) {
    throw refusalOf(error, upload);
  }
}

function refusalOf(error: unknown, upload: Upload): DeliveryRefusal {
  if (upload.failure !== undefined) return upload.failure;
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'FST_PARTS_LIMIT')
    return new DeliveryRefusal('too-large', 'there are too many parts');
  return new DeliveryRefusal('unreadable', 'the multipart form in the body is not complete');
}

function refuse(reply: FastifyReply, httpStatus: number, reason: string): FastifyReply {
  if (httpStatus === 503) reply.header('retry-after', RETRY_AFTER_S);
  return reply.code(httpStatus).send({ status: 'refused', reason });
}

/** Answers a delivery that this process could not store: 507 without space, 503 if a retry may succeed, else 500. */
function fail({ log }: ReceiverDeps, reply: FastifyReply, error: unknown): FastifyReply {
  const cause = error instanceof Error ? `${error.name}: ${error.message}` : 'no reason given';
  log.error({ cause }, 'a photo delivery could not be stored');
  const { code, errno } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') return refuse(reply, 507, 'there is no space left');
  const isTransient = error instanceof StoreError || errno !== undefined;
  return isTransient
    ? refuse(reply, 503, 'the photos cannot be stored now; send them again')
    : refuse(reply, 500, 'the receiver failed');
}

const WHY_NOT_LISTENING: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there',
  EACCES: 'it is not permitted',
};

async function listenOn(server: FastifyInstance, { host, port }: ListenAddress): Promise<string> {
  try {
    return await listenAt(server, { host, port });
  } catch (error) {
    await server.close();
    const { code = '' } = error as NodeJS.ErrnoException;
    const reason = WHY_NOT_LISTENING[code] ?? `it is no address of this machine (${code})`;
    throw new ConfigError(`photos.listen ${host}:${port} cannot be used: ${reason}`, { cause: error });
  }
}

/** The most bytes of a body beside its files: heads of parts, `details`, unknown parts. */
const OTHER_BYTES = 1_024 * 1_024;
/** After a cut-off the connection stays open for this time, so that the sender can read the answer. */
const LINGER_MS = 1_000;

/**
 * Enforces the limits of size and time on a request. After the answer the rest of the body is read and discarded,
 * because a sender whose connection is cut would not read the answer.
 */
function boundUpload(request: IncomingMessage, response: ServerResponse, photos: PhotoSettings, clock: Clock) {
  const maxBytes = photos.maxTotalBytes + OTHER_BYTES;
  const tooLarge = new DeliveryRefusal('too-large', `the body has more than ${maxBytes} bytes`);
  const ended = new AbortController();
  const after = (ms: number, work: () => void) => void clock.sleep(ms, ended.signal).then(work, () => undefined);
  const upload = {
    failure: undefined as DeliveryRefusal | undefined,
    /** Throws `DeliveryRefusal` if `announced`, the content-length, is above the limit. */
    check(announced: number) {
      if (announced > maxBytes) throw tooLarge;
    },
    discard() {
      request.unpipe();
      request.resume();
      if (upload.failure !== undefined) after(LINGER_MS, () => request.destroy());
    },
  };
  const cutOff = (failure: DeliveryRefusal) => {
    if (upload.failure !== undefined) return;
    upload.failure = failure;
    if (response.headersSent) request.destroy();
    // The error ends the reading of the parts, and the request can still be answered.
    else request.emit('error', failure);
  };
  let size = 0;
  request.once('close', () => ended.abort());
  request.on('error', () => {});
  request.on('data', (chunk: Uint8Array) => {
    size += chunk.length;
    if (size > maxBytes) cutOff(tooLarge);
  });
  // Without this pause, the listener of `data` would start the reading before the parts are requested.
  request.pause();
  after(photos.timeout, () => cutOff(new DeliveryRefusal('too-slow', 'the delivery takes too long')));
  return upload;
}

type Upload = ReturnType<typeof boundUpload>;

/** How often a waiting worker tests if the address is free, in ms. */
const LOOK_MS = 5_000;

/**
 * Receives photos if `photos.listen` is set. With PostgreSQL, a worker waits while another process uses the address.
 * Throws `ConfigError` if the address cannot be used. After the start, `waiting` rejects with this error.
 */
export async function receivePhotos(deps: ReceiverDeps, stopping: AbortSignal) {
  const { clock, log, config } = deps;
  const { listen } = clientsSettings.of(config).photos;
  let receiver: PhotoReceiver | undefined;
  const begun = new AbortController();
  const begin = async () => {
    try {
      if (listen !== undefined) receiver = await servePhotos(deps, listen, stopping);
      begun.abort();
    } catch (error) {
      const cause = error instanceof ConfigError && (error.cause as NodeJS.ErrnoException);
      if (config.database.kind !== 'postgres' || !cause || cause.code !== 'EADDRINUSE') throw error;
    }
  };
  const beginAgain = async () =>
    await begin().catch((error: unknown) => {
      // The error is ignored, because the database may be reachable when `repeatEvery` calls this function again.
      if (!(error instanceof StoreError)) throw error;
    });
  await begin();
  if (!begun.signal.aborted) {
    const text = 'another process listens at photos.listen; this process receives photos after that process ends';
    log.warn({ ...listen }, text);
  }
  const waiting = repeatEvery(clock, LOOK_MS, AbortSignal.any([stopping, begun.signal]), beginAgain);
  const close = async () => {
    await waiting.catch(() => undefined);
    await receiver?.close();
  };
  return { waiting, close, [Symbol.asyncDispose]: close };
}

export const clientsService: ServiceMaker = {
  async start(deps) {
    const ageMs = clientsSettings.of(deps.config).retention.photos;
    addPurge(deps.services, { name: 'photos', ageMs, deleteSome: photosPurge(deps) });
    const photos = await receivePhotos(deps, deps.stop);
    return { work: photos.waiting, close: photos.close };
  },
};
