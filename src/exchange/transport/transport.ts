import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import { brotliDecompressSync, unzipSync } from 'node:zlib';
import got, { type Got, type Request } from 'got';
import { systemClock, type Clock } from '../../base/clock.ts';
import { HIDDEN } from '../../base/text.ts';
import { hide } from '../reply.ts';
import { onAbort } from './aborts.ts';
import { Connections, endedBy, onceConnected } from './connections.ts';
import { type HttpRequest, type HttpResponse, type Transport, TransportError } from './http.ts';

export type Connect = (account: string, apiKey: () => string) => Transport;

interface TransportOptions {
  readonly baseUrl: string;
  /** Called for each request, because the key may change. */
  readonly apiKey: () => string;
  /** The longest time of a request with its answer. */
  readonly timeoutMs: number;
  /** The largest answer, in bytes, both as received and after decompression. */
  readonly maxResponseBytes: number;
}

type Decompress = (bytes: Buffer, options: { readonly maxOutputLength: number }) => Buffer;
const DECOMPRESS: ReadonlyMap<string | undefined, Decompress> = new Map([
  ['gzip', unzipSync],
  ['x-gzip', unzipSync],
  ['deflate', unzipSync],
  ['br', brotliDecompressSync],
]);
const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The exchange over HTTP. It retries nothing, because a retry would bypass the rate limit and could create twice. It
 * follows no redirect, because a redirect would send the key elsewhere.
 *
 * Servers close idle connections, mostly after 5 s to 75 s, and some after 1 s. If a server does so while a
 * create leaves, the outcome of the create is unknown. So a POST uses a kept connection only within `REUSE_WITHIN_MS`
 * after the last answer on that connection, else a fresh connection. A GET uses any kept connection.
 */
export function httpTransport(options: TransportOptions, clock: Pick<Clock, 'monotonic'> = systemClock()): Transport {
  const creates = new Connections(options.baseUrl, clock);
  const lookups = new Connections(options.baseUrl, clock);
  const client = got.extend({
    prefixUrl: options.baseUrl,
    headers: { accept: 'application/json', 'accept-encoding': 'gzip, br', 'user-agent': 'order-sync' },
    // With `true`, got calls its `prepareResponse` twice for each answer, even if the answer is not compressed.
    decompress: false,
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    allowAbsoluteUrls: false,
    timeout: { request: options.timeoutMs },
  });
  // Each method has a client, because got would otherwise set `method` and `request` anew at each request.
  const creating = client.extend({ method: 'POST', request: creates.request });
  const lookingUp = client.extend({ request: lookups.request });
  return {
    async send(request, signal, mayLeave = () => true) {
      const isPost = request.method === 'POST';
      if (isPost) creates.closeIdle();
      const apiKey = options.apiKey();
      const stream = begin(isPost ? creating : lookingUp, request, apiKey);
      let sent: ClientRequest | undefined;
      let refusal: TransportError | undefined;
      stream.once('request', (made: ClientRequest) => {
        sent = made;
        if (!isPost) return;
        const mayWrite = () => {
          if (mayLeave()) return true;
          refusal = new TransportError('another process may own the account', { sent: 'never', code: 'NOT_OWNER' });
          // Node crashes if the socket is reset while TLS reports the end of the handshake.
          setImmediate(() => stream.destroy(refusal));
          return false;
        };
        // got does not get the option `body`, because got would then send the body without a call of `mayLeave`.
        onceConnected(made, () => stream.end(request.body), mayWrite);
      });
      stream.once('response', ({ socket }: { socket?: Socket }) => (isPost ? creates : lookups).noteAnswer(socket));
      // The signal is not passed to got, because got would add three listeners to it for each request.
      const abort = () => stream.destroy(Object.assign(new Error('aborted'), { code: 'ERR_ABORTED' }));
      const forget = onAbort(signal, abort);
      try {
        if (signal?.aborted === true) abort();
        const bytes = await readAll(stream, options.maxResponseBytes);
        const answer = responseOf(stream, bytes, apiKey, options, request.isExamined);
        emptyOnceClosed(stream, sent);
        return answer;
      } catch (error) {
        throw refusal ?? transportError((sent && endedBy.get(sent)) ?? error, stream, request, options);
      } finally {
        forget();
      }
    },
    async close() {
      creates.close();
      lookups.close();
    },
  };
}

function begin(client: Got, { method, path, headers, body }: HttpRequest, apiKey: string): Request {
  const sent: Record<string, string> = { 'x-api-key': apiKey, ...headers };
  if (method === 'POST') sent['content-length'] = String(Buffer.byteLength(body ?? ''));
  if (body !== undefined) sent['content-type'] = 'application/json';
  return client.stream(path.replace(/^\//, ''), { headers: sent });
}

/** Node ends the process if a stream emits an error and has no listener. */
const ignore = () => {};
/** The properties by which a stream of got refers to other objects. */
const NOTHING = {
  options: undefined,
  response: undefined,
  _request: undefined,
  _cancelTimeouts: undefined,
  _unproxyEvents: undefined,
};

/**
 * Empties a stream whose request has ended, which saves a sixth of a request's time. The constructor of a writable
 * stream assigns a function that refers to the stream, and V8 allocates this function among the old objects. So V8
 * frees the stream, and all that the stream refers to, only in a full collection.
 */
function emptyOnceClosed(stream: Request, sent: ClientRequest | undefined): void {
  const empty = () => {
    // An answer may come before all of the request was written.
    if (!stream.writableFinished) return;
    stream.removeAllListeners().on('error', ignore);
    Object.assign(stream, NOTHING);
  };
  if (sent?.closed === true) empty();
  else sent?.once('close', empty);
}

/** Reads the bytes of an answer by events, because awaiting the stream's end takes a tenth of a request's time. */
function readAll(stream: Request, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= maxBytes) return;
      reject(tooLarge(maxBytes));
      // The stream is destroyed at once, so that the connection is closed before the rest of the answer has come.
      stream.destroy();
    });
    stream.once('end', () => {
      const [first = Buffer.alloc(0)] = chunks;
      resolve(chunks.length > 1 ? Buffer.concat(chunks) : first);
    });
    stream.on('error', reject);
    stream.once('close', () => reject(new Error('no answer')));
  });
}

function responseOf(
  { response }: Request,
  bytes: Buffer,
  apiKey: string,
  { maxResponseBytes }: TransportOptions,
  isExamined = false,
): HttpResponse {
  if (response === undefined) throw new Error('no answer');
  const retryAfter = response.headers['retry-after'];
  const { body, ...encoding } = decoded(decompressed(bytes, response.headers['content-encoding'], maxResponseBytes));
  return {
    status: response.statusCode,
    ...(retryAfter === undefined ? {} : { retryAfter }),
    // The key is always hidden in errors and examined answers, because people read both. In other answers a key below
    // 12 characters stays, because it may be part of an amount.
    body: isExamined || response.statusCode >= 400 || apiKey.length >= 12 ? withoutKey(body, apiKey) : body,
    ...(isExamined && { headers: response.headers }),
    ...encoding,
  };
}

/** Hides the key. `hide` also finds an escaped key, but is slow, so it reads only answers that have escapes. */
function withoutKey(body: string, apiKey: string): string {
  return /[\\%]/.test(body) ? hide([apiKey], body) : body.replaceAll(apiKey, HIDDEN);
}

/** Decompresses an answer. Throws `TransportError` if the answer is too large, and zlib's error if it is broken. */
function decompressed(bytes: Buffer, encoding: string | undefined, maxBytes: number): Buffer {
  const decompress = bytes.length === 0 ? undefined : DECOMPRESS.get(encoding?.trim().toLowerCase());
  try {
    return decompress?.(bytes, { maxOutputLength: maxBytes }) ?? bytes;
  } catch (error) {
    throw codeOf(error) === 'ERR_BUFFER_TOO_LARGE' ? tooLarge(maxBytes) : error;
  }
}

function tooLarge(maxBytes: number): TransportError {
  return new TransportError(`the answer is larger than ${maxBytes} bytes`, { sent: 'perhaps', code: 'TOO_LARGE' });
}

/** Bytes that are no UTF-8 are no error, because the status still counts and an id may be found in them. */
function decoded(bytes: Buffer): Pick<HttpResponse, 'body' | 'isUtf8'> {
  try {
    return { body: UTF_8.decode(bytes) };
  } catch {
    return { body: bytes.toString('latin1'), isUtf8: false };
  }
}

/** Makes an error without the text of `error`, which may quote the request, and hides e-mail addresses in the path. */
function transportError(error: unknown, stream: Request, request: HttpRequest, { baseUrl }: TransportOptions) {
  if (error instanceof TransportError) return error;
  const { reusedSocket, response, timings } = stream;
  const connectedAt = baseUrl.startsWith('https:') ? timings?.secureConnect : timings?.connect;
  // True if the socket was fresh and never connected, so that no byte of the request left.
  const wasNeverSent = reusedSocket !== true && response === undefined && connectedAt === undefined;
  const path = request.path.split('?')[0]?.replaceAll(/[^/]*%40[^/]*/g, HIDDEN);
  const code = codeOf(error);
  return new TransportError(`${request.method} ${path}: ${code}`, { sent: wasNeverSent ? 'never' : 'perhaps', code });
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' ? code : 'NO_ANSWER';
}
