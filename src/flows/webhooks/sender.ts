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

interface SendOptions {
  /** Breaks it off. */
  readonly signal?: AbortSignal;
  /** Tells whether nothing may be sent any more: another process may have come to own the account meanwhile. */
  readonly isOver?: () => boolean;
}

/** Sends messages to an endpoint. */
export interface WebhookSender extends Disposable {
  /** Sends a message once and never rejects. It is signed with each secret, as of now. */
  send(message: Message, options?: SendOptions): Promise<DeliveryOutcome>;
}

/** What came of a request: the answer, where one began, or what broke it off. */
export interface Posted {
  readonly answer?: { readonly status: number; readonly retryAfter: string | undefined };
  readonly failure?: unknown;
  /** It went over a connection that an earlier one had left open. */
  readonly isReused?: boolean;
}

/** The connections to an endpoint. */
export interface Connections extends Disposable {
  /** Posts a body once and never rejects. */
  post(body: string, headers: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<Posted>;
}

interface ConnectOptions {
  readonly endpoint: WebhookEndpoint;
  readonly resolve?: Resolve | undefined;
  /** Deadline of a whole try, in milliseconds. */
  readonly timeoutMs?: number;
}

export interface SenderOptions extends ConnectOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** The version of the program. */
  readonly version: string;
  /** Opens the connections; HTTP unless given. */
  readonly connect?: ((options: ConnectOptions) => Connections) | undefined;
}

const TIMEOUT_MS = 15_000;
/** Of an answer so much is taken off the connection, and nothing of it kept; it is cut after that. */
const MOST_ANSWER_BYTES = 64 * 1024;
const FREE_SOCKETS = 8;

/** Opens the way to an endpoint. What is not an address of the internet is refused unless the endpoint allows it. */
export function webhookSender({ clock, version, connect = overHttp, ...options }: SenderOptions): WebhookSender {
  const { allowPrivate, url, secrets } = options.endpoint;
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  // Node looks up no literal address.
  const isRefused = !allowPrivate && isIP(host) !== 0 && !isPublic(host);
  const connections = connect(options);
  const signers = secrets.map((secret) => new Webhook(secret));
  const headersOf = (id: string, body: string, now: Date) => ({
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': `order-sync/${version}`,
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': signers.map((signer) => signer.sign(id, now, body)).join(' '),
  });
  return {
    async send(message, { signal, isOver = () => signal?.aborted === true } = {}) {
      if (isRefused) return privateAddress();
      const body = JSON.stringify(message);
      const post = async () => await connections.post(body, headersOf(message.id, body, clock.now()), signal);
      let posted = await post();
      // The endpoint closed a connection that was kept: that says nothing, and the event has the same id on every try.
      if (posted.answer === undefined && posted.isReused === true && !isOver()) posted = await post();
      return outcomeOfPost(posted, clock.now());
    },
    [Symbol.dispose]: () => connections[Symbol.dispose](),
  };
}

/**
 * Connects over HTTP. It follows no redirect and uses no proxy. Names are resolved at each connect, and what they stand for is
 * refused where it is not an address of the internet, unless the endpoint allows it.
 */
function overHttp({ endpoint, resolve, timeoutMs = TIMEOUT_MS }: ConnectOptions): Connections {
  const url = new URL(endpoint.url);
  const options = {
    keepAlive: true,
    maxFreeSockets: FREE_SOCKETS,
    ...(!endpoint.allowPrivate && { lookup: publicLookup(resolve) }),
  };
  const isSecure = url.protocol === 'https:';
  // Said, since NODE_TLS_REJECT_UNAUTHORIZED=0 would otherwise have anybody in between read the events.
  const agent = isSecure ? new https.Agent({ ...options, rejectUnauthorized: true }) : new http.Agent(options);
  const client = got.extend({
    method: 'POST',
    request: requestBy(agent),
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    decompress: false,
    timeout: { request: timeoutMs },
  });
  return {
    async post(body, headers, signal) {
      const stream = client.stream(url, { headers, ...(signal && { signal }) });
      stream.end(body);
      const failure = await endOf(stream);
      const { response, reusedSocket: isReused = false } = stream;
      if (response === undefined) return { failure, isReused };
      return { answer: { status: response.statusCode, retryAfter: response.headers['retry-after'] } };
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
function outcomeOfPost({ answer, failure }: Posted, now: Date): DeliveryOutcome {
  if (answer === undefined) return noAnswer(failure);
  const { status, retryAfter } = answer;
  return outcomeOf(status, retryAfter === undefined ? undefined : retryAfterMs(retryAfter, now));
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
