import http from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';
import got, { type Request, type RequestFunction } from 'got';
import { systemClock, type Clock } from '../clock.ts';

/** One request to the exchange (§4), before the base address and the key are added. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  /** Path from the base address, already encoded, with its query: `/api/v1/merchant/orders?externalOrderId=a`. */
  readonly path: string;
  /** Headers beside the key and the content type. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The JSON body as it goes on the wire, byte for byte. */
  readonly body?: string;
  /** Texts of the request that are to stand in no error, should the exchange quote them. */
  readonly secrets?: readonly string[];
}

/** Stands in an error where the exchange quotes a secret. */
export const HIDDEN = '<hidden>';

/** One whole answer of the exchange. */
export interface HttpResponse {
  readonly status: number;
  /** Value of the Retry-After header, when there was one. */
  readonly retryAfter?: string;
  /** The body as received: valid UTF-8, within the size limit. */
  readonly body: string;
}

/**
 * No whole answer came. `sent` is `never` only where it is proved that no byte of the request left (no connection was
 * made); everything else is `perhaps`. Carries no header, key or body.
 */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly sent: 'never' | 'perhaps';
  readonly code: string;
  constructor(message: string, options: { sent: 'never' | 'perhaps'; code: string }) {
    super(message);
    this.sent = options.sent;
    this.code = options.code;
  }
}

/** Carries one request to the exchange and one answer back. Rejects with `TransportError` and nothing else. */
export interface Transport {
  send(request: HttpRequest, signal?: AbortSignal): Promise<HttpResponse>;
  close(): Promise<void>;
}

/** Settings of the connection to the exchange. */
export interface TransportOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Deadline of a whole call, in milliseconds. */
  readonly timeoutMs: number;
  /** Largest answer taken, in bytes after decompression. */
  readonly maxResponseBytes: number;
}

/** A create goes on a kept connection only within this time after the last answer on it. */
export const REUSE_WITHIN_MS = 100;
const FREE_SOCKETS = 32;
/** Throws on what is not UTF-8. */
const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The exchange over HTTP. No retries and no redirects: a retry would slip past the rate limit and could create twice, a
 * redirect would carry the key elsewhere.
 *
 * Look-ups use any kept connection. On one that the exchange has just closed, nobody could tell whether a create was
 * taken, and servers close connections that have been idle for a while (after 1 s at the earliest, mostly after 5 s to
 * 75 s). So a create takes a kept connection only when an answer came over it a moment ago, as happens when many go out;
 * a lone one takes a fresh connection. Should the exchange close even that, the outcome is unknown, as with any reset.
 */
export function httpTransport(options: TransportOptions, clock: Pick<Clock, 'monotonic'> = systemClock()): Transport {
  const creates = new Connections(clock);
  const lookups = new Connections(clock);
  const client = got.extend({
    prefixUrl: options.baseUrl,
    headers: { 'x-api-key': options.apiKey, accept: 'application/json', 'user-agent': 'order-sync' },
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    allowAbsoluteUrls: false,
    timeout: { request: options.timeoutMs },
  });
  const creating = client.extend({ request: creates.request });
  const lookingUp = client.extend({ request: lookups.request });
  return {
    async send(request, signal) {
      if (request.method === 'POST') creates.closeIdle();
      const stream = (request.method === 'POST' ? creating : lookingUp).stream(request.path.replace(/^\//, ''), {
        method: request.method,
        headers: { ...request.headers, ...bodyHeaders(request) },
      });
      // As got's option the body would be ended a turn later, and an answer that is faster costs the connection.
      if (request.method === 'POST') stream.end(request.body);
      // Our own listener: got would add one to the signal three times a request.
      const abort = () => stream.destroy();
      signal?.addEventListener('abort', abort, { once: true });
      try {
        if (signal?.aborted === true) abort();
        const answer = await receive(stream, request, options);
        letGo(stream);
        return answer;
      } finally {
        signal?.removeEventListener('abort', abort);
      }
    },
    async close() {
      creates.close();
      lookups.close();
    },
  };
}

function bodyHeaders({ method, body }: HttpRequest): Record<string, string> {
  if (method !== 'POST') return {};
  const length = { 'content-length': String(Buffer.byteLength(body ?? '')) };
  return body === undefined ? length : { ...length, 'content-type': 'application/json' };
}

/** Connections that are kept between requests, and since when each has been idle. */
class Connections {
  readonly #http = new http.Agent({ keepAlive: true, maxFreeSockets: FREE_SOCKETS });
  readonly #https = new https.Agent({ keepAlive: true, maxFreeSockets: FREE_SOCKETS });
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #idleSince = new WeakMap<Duplex, number>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
    for (const agent of [this.#http, this.#https]) {
      const keep = agent.keepSocketAlive.bind(agent);
      agent.keepSocketAlive = (socket) => {
        this.#idleSince.set(socket, this.#clock.monotonic());
        return keep(socket);
      };
    }
  }

  /**
   * What got calls in place of Node's own. Of the forty options that got passes only these differ from Node's defaults,
   * and Node copies all of them several times a request.
   */
  readonly request: RequestFunction = (url, { method, headers }, onResponse) =>
    url.protocol === 'https:'
      ? https.request(url, { method, headers, agent: this.#https }, onResponse)
      : http.request(url, { method, headers, agent: this.#http }, onResponse);

  /** Closes what was idle for too long; at each create, as a timer would come late where the process stood still. */
  closeIdle(): void {
    const latest = this.#clock.monotonic() - REUSE_WITHIN_MS;
    for (const agent of [this.#http, this.#https]) {
      for (const name in agent.freeSockets) {
        for (const socket of agent.freeSockets[name] ?? []) {
          if ((this.#idleSince.get(socket) ?? Number.NEGATIVE_INFINITY) < latest) socket.destroy();
        }
      }
    }
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }
}

/** Where got's stream holds the request and the answer that it is done with. */
const LINKS = ['_request', 'response', '_unproxyEvents', '_cancelTimeouts'] as const;

/**
 * Takes a stream that has ended apart. V8 takes what a stream holds for long-lived, until its slow collection finds that
 * it is not: that took a sixth of the time at full speed.
 */
function letGo(stream: Request): void {
  stream.removeAllListeners();
  // Whatever happens to the connection from now on is not about this request.
  stream.on('error', () => {});
  for (const link of LINKS) Reflect.set(stream, link, undefined);
}

/** Reads one answer. By events: iterating over the stream costs a tenth of the whole request. */
function receive(stream: Request, request: HttpRequest, options: TransportOptions): Promise<HttpResponse> {
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise<HttpResponse>((resolve, reject) => {
    const fail = (error: unknown) => {
      reject(transportError(error, stream, request, options));
      stream.destroy();
    };
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= options.maxResponseBytes) return;
      const message = `the answer is larger than ${options.maxResponseBytes} bytes`;
      fail(new TransportError(message, { sent: 'perhaps', code: 'TOO_LARGE' }));
    });
    stream.once('end', () => {
      try {
        resolve(answerOf(stream, chunks, options.apiKey));
      } catch (error) {
        fail(error);
      }
    });
    stream.on('error', fail);
    // Destroyed by the signal: no error comes. After an answer this does nothing.
    stream.once('close', () => fail(new Error('no answer')));
  });
}

function answerOf(stream: Request, chunks: readonly Buffer[], apiKey: string): HttpResponse {
  const { response } = stream;
  if (response === undefined) throw new Error('no answer');
  const retryAfter = response.headers['retry-after'];
  const body = UTF_8.decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
  return {
    status: response.statusCode,
    ...(retryAfter === undefined ? {} : { retryAfter }),
    // An error may quote the key, and is shown to people.
    body: response.statusCode >= 400 ? body.replaceAll(apiKey, HIDDEN) : body,
  };
}

function transportError(
  error: unknown,
  stream: Request,
  request: HttpRequest,
  options: TransportOptions,
): TransportError {
  if (error instanceof TransportError) return error;
  const isSecure = options.baseUrl.startsWith('https:');
  return new TransportError(describe(error, request), {
    sent: wasNeverSent(error, stream, isSecure) ? 'never' : 'perhaps',
    code: codeOf(error),
  });
}

/** Nothing left when no connection was ever made on a socket of this request's own. */
function wasNeverSent(error: unknown, stream: Request, isSecure: boolean): boolean {
  const source = (error as { request?: Request }).request ?? stream;
  const timings = (error as { timings?: Request['timings'] }).timings ?? source.timings;
  if (source.reusedSocket === true || stream.response !== undefined) return false;
  const phases = timings as { connect?: number; secureConnect?: number; socket?: number } | undefined;
  return isSecure ? phases?.secureConnect === undefined : phases?.connect === undefined;
}

/**
 * Says what went wrong without the error's own text, which may quote the address, the headers or the body, and without
 * an e-mail address that was given in place of an id.
 */
function describe(error: unknown, request: HttpRequest): string {
  const path = request.path.split('?')[0]?.replaceAll(/[^/]*%40[^/]*/g, HIDDEN);
  return `${request.method} ${path}: ${codeOf(error)}`;
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown }).code;
  if (typeof code === 'string') return code;
  return error instanceof TypeError ? 'NOT_UTF8' : 'NO_ANSWER';
}
