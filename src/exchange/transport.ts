import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import got, { type Request } from 'got';
import { TransportError, type Transport, type WireRequest, type WireResponse } from './wire-call.ts';

/** Settings of the connection to the exchange. */
export interface TransportOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Deadline of a whole call, in milliseconds. */
  readonly timeoutMs: number;
  /** Largest answer taken, in bytes after decompression. */
  readonly maxResponseBytes: number;
}

const FREE_SOCKETS = 32;

/**
 * The exchange over HTTP. No retries and no redirects: a retry would slip past the rate limit and could create twice, a
 * redirect would carry the key elsewhere. Creates use a fresh connection each: on a kept one that the exchange has just
 * closed, nobody could tell whether the request was taken.
 */
export function httpTransport(options: TransportOptions): Transport {
  const keepAlive = {
    http: new HttpAgent({ keepAlive: true, maxFreeSockets: FREE_SOCKETS }),
    https: new HttpsAgent({ keepAlive: true, maxFreeSockets: FREE_SOCKETS }),
  };
  const fresh = { http: new HttpAgent({ keepAlive: false }), https: new HttpsAgent({ keepAlive: false }) };
  const client = got.extend({
    prefixUrl: options.baseUrl,
    headers: { 'x-api-key': options.apiKey, accept: 'application/json', 'user-agent': 'order-sync' },
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    allowAbsoluteUrls: false,
    timeout: { request: options.timeoutMs },
  });
  return {
    async send(request, signal) {
      const stream = client.stream(request.path.replace(/^\//, ''), {
        method: request.method,
        agent: request.method === 'POST' ? fresh : keepAlive,
        headers: { ...request.headers, ...(request.body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(request.body === undefined ? {} : { body: request.body }),
        ...(signal === undefined ? {} : { signal }),
      });
      return await receive(stream, request, options);
    },
    async close() {
      for (const agent of [keepAlive.http, keepAlive.https, fresh.http, fresh.https]) agent.destroy();
    },
  };
}

async function receive(stream: Request, request: WireRequest, options: TransportOptions): Promise<WireResponse> {
  const isSecure = options.baseUrl.startsWith('https:');
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > options.maxResponseBytes) {
        throw new TransportError(`the answer is larger than ${options.maxResponseBytes} bytes`, {
          sent: 'perhaps',
          code: 'TOO_LARGE',
        });
      }
      chunks.push(chunk);
    }
    const response = stream.response;
    if (response === undefined) throw new Error('no answer');
    const retryAfter = response.headers['retry-after'];
    return {
      status: response.statusCode,
      ...(retryAfter === undefined ? {} : { retryAfter }),
      body: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks)),
    };
  } catch (error) {
    if (error instanceof TransportError) throw error;
    throw new TransportError(describe(error, request), {
      sent: wasNeverSent(error, stream, isSecure) ? 'never' : 'perhaps',
      code: codeOf(error),
    });
  } finally {
    stream.destroy();
  }
}

/** Nothing left when no connection was ever made on a socket of this request's own. */
function wasNeverSent(error: unknown, stream: Request, isSecure: boolean): boolean {
  const source = (error as { request?: Request }).request ?? stream;
  const timings = (error as { timings?: Request['timings'] }).timings ?? source.timings;
  if (source.reusedSocket === true || stream.response !== undefined) return false;
  const phases = timings as { connect?: number; secureConnect?: number; socket?: number } | undefined;
  return isSecure ? phases?.secureConnect === undefined : phases?.connect === undefined;
}

/** Says what went wrong without the error's own text, which may quote the address, the headers or the body. */
function describe(error: unknown, request: WireRequest): string {
  const path = request.path.split('?')[0];
  return `${request.method} ${path}: ${codeOf(error)}`;
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown }).code;
  if (typeof code === 'string') return code;
  return error instanceof TypeError ? 'NOT_UTF8' : 'NO_ANSWER';
}
