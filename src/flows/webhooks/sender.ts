import http from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import { finished } from 'node:stream/promises';
import got, { type Request, type RequestFunction } from 'got';
import { Webhook } from 'standardwebhooks';
import type { Clock } from '../../clock.ts';
import type { WebhookEndpoint } from '../../config/webhooks.ts';
import { outcomeOf, type DeliveryOutcome } from '../../domain/events/delivery.ts';
import { retryAfterMs } from '../../exchange/reply.ts';
import { isPublic, publicLookup, type Resolve } from './public-address.ts';

/** What is sent: an event of the feed, or one that only tries the way. */
export interface Message {
  readonly id: string;
}

/** Sends messages to an endpoint. */
export interface WebhookSender extends Disposable {
  /** Sends a message once and never rejects. It is signed with each secret, as of now. */
  send(message: Message, signal?: AbortSignal): Promise<DeliveryOutcome>;
}

export interface SenderOptions {
  readonly endpoint: WebhookEndpoint;
  readonly clock: Pick<Clock, 'now'>;
  /** The version of the program. */
  readonly version: string;
  readonly resolve?: Resolve | undefined;
  /** Deadline of a whole try, in milliseconds. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 15_000;
/** Of an answer so much is taken off the connection, and nothing of it kept; it is cut after that. */
const MOST_ANSWER_BYTES = 64 * 1024;
const FREE_SOCKETS = 8;

/**
 * Opens the way to an endpoint. It follows no redirect and uses no proxy. Names are resolved at each connect, and what is not
 * an address of the internet is refused unless the endpoint allows it.
 */
export function webhookSender({
  endpoint,
  clock,
  version,
  resolve,
  timeoutMs = TIMEOUT_MS,
}: SenderOptions): WebhookSender {
  const { allowPrivate } = endpoint;
  const url = new URL(endpoint.url);
  const isSecure = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // Node looks up no literal address.
  const isRefused = !allowPrivate && isIP(host) !== 0 && !isPublic(host);
  const options = {
    keepAlive: true,
    maxFreeSockets: FREE_SOCKETS,
    ...(!allowPrivate && { lookup: publicLookup(resolve) }),
  };
  // Said, since NODE_TLS_REJECT_UNAUTHORIZED=0 would otherwise have anybody in between read the events.
  const agent = isSecure ? new https.Agent({ ...options, rejectUnauthorized: true }) : new http.Agent(options);
  const signers = endpoint.secrets.map((secret) => new Webhook(secret));
  const client = got.extend({
    method: 'POST',
    request: requestBy(agent),
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    decompress: false,
    timeout: { request: timeoutMs },
  });
  const headersOf = (id: string, body: string, now: Date) => ({
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': `order-sync/${version}`,
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': signers.map((signer) => signer.sign(id, now, body)).join(' '),
  });
  return {
    async send(message, signal) {
      if (isRefused) return privateAddress();
      const body = JSON.stringify(message);
      const begin = () => {
        const headers = headersOf(message.id, body, clock.now());
        const stream = client.stream(url, { headers, ...(signal && { signal }) });
        stream.end(body);
        return stream;
      };
      let stream = begin();
      let failure = await endOf(stream);
      // The endpoint closed a connection that was kept: that says nothing, and the event has the same id on every try.
      if (stream.response === undefined && stream.reusedSocket === true && signal?.aborted !== true) {
        stream = begin();
        failure = await endOf(stream);
      }
      return outcomeOfStream(stream, failure, clock.now());
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}

/** got's option for the function that sends: with the connections of this endpoint, through no proxy. */
function requestBy(agent: http.Agent): RequestFunction {
  return (url, { method, headers }, onResponse) => {
    const { request } = url.protocol === 'https:' ? https : http;
    const sent = request(url, { method, headers, agent }, onResponse);
    // The socket of a 101 would be nobody's.
    return sent.once('upgrade', (_response, socket) => {
      socket.destroy();
      sent.emit('error', Object.assign(new Error('101'), { code: 'SWITCHED_PROTOCOLS' }));
    });
  };
}

/** Takes an answer off its connection, so that this can be used again; gives what broke it off. */
async function endOf(stream: Request): Promise<unknown> {
  let size = 0;
  stream.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > MOST_ANSWER_BYTES) stream.destroy();
  });
  return await finished(stream, { writable: false }).then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** The status says it, whatever came after it. */
function outcomeOfStream({ response }: Request, failure: unknown, now: Date): DeliveryOutcome {
  if (response === undefined) return noAnswer(failure);
  const asked = response.headers['retry-after'];
  return outcomeOf(response.statusCode, asked === undefined ? undefined : retryAfterMs(asked, now));
}

/** Of an error its code alone is said: its text may quote the address or the headers. */
function noAnswer(failure: unknown): DeliveryOutcome {
  const { code, cause } = (failure ?? {}) as { readonly code?: unknown; readonly cause?: { readonly code?: unknown } };
  const known = [cause?.code, code].find((one) => typeof one === 'string');
  if (known === 'PRIVATE_ADDRESS') return privateAddress();
  return { kind: 'unavailable', cause: `it does not answer: ${known ?? 'NO_ANSWER'}`, status: 0 };
}

function privateAddress(): DeliveryOutcome {
  const cause = 'its address is not one of the internet; where that is meant, set allowPrivate: true for the endpoint';
  return { kind: 'unavailable', cause };
}
