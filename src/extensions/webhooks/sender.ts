import dns from 'node:dns';
import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP, BlockList, type LookupFunction } from 'node:net';
import { finished } from 'node:stream/promises';
import { Webhook } from 'standardwebhooks';
import { repeatedly, type Clock } from '../../base/clock.ts';
import { programVersion } from '../../base/version.ts';
import type { WebhookEndpoint } from './settings.ts';
import { outcomeOf, type DeliveryOutcome } from './delivery.ts';
import { PRIVATE_ADDRESS } from './receiver.ts';
import { retryAfterMs } from '../../exchange/reply.ts';

export type WebhookSender = ReturnType<typeof webhookSender>;

export interface Posted {
  readonly answer?: { readonly status: number; readonly retryAfter: string | undefined };
  readonly failure?: unknown;
  readonly isReused?: boolean;
}

export interface Connections extends Disposable {
  post(body: string, headers: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<Posted>;
}

type SendOptions = Readonly<{ signal?: AbortSignal; isOver?: () => boolean }>;
type ConnectOptions = Readonly<{ endpoint: WebhookEndpoint; resolve?: Resolve | undefined; timeoutMs?: number }>;

export interface SenderOptions extends ConnectOptions {
  readonly clock: Clock;
  readonly connect?: ((options: ConnectOptions) => Connections) | undefined;
}

const TIMEOUT_MS = 15_000;
/** A longer answer is cut off. No body of an answer is kept. */
const MOST_ANSWER_BYTES = 64 * 1024;
const FREE_SOCKETS = 8;

/** Returns a sender that refuses addresses that are not public, unless the endpoint has `allowPrivate`. */
export function webhookSender({ clock, connect = overHttp, ...options }: SenderOptions) {
  const { allowPrivate, url, secrets } = options.endpoint;
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  // Node does not look up literal addresses, so `lookup` cannot refuse them.
  const isRefused = !allowPrivate && isIP(host) !== 0 && !isPublic(host);
  const connections = connect(options);
  const agent = `order-sync/${programVersion()}`;
  const signers = secrets.map((secret) => new Webhook(secret));
  const headersOf = (id: string, body: string, now: Date) => ({
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': agent,
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': signers.map((signer) => signer.sign(id, now, body)).join(' '),
  });
  return {
    /** Sends a message, signed with each secret. Sends it again if a kept connection was closed. Never rejects. */
    async send(message: { readonly id: string }, { signal, isOver }: SendOptions = {}): Promise<DeliveryOutcome> {
      if (isRefused) return PRIVATE;
      const body = JSON.stringify(message);
      const post = async () => await connections.post(body, headersOf(message.id, body, clock.now()), signal);
      let posted = await post();
      // The endpoint may have closed the kept connection. A second send is safe, because the event keeps its id.
      if (posted.answer === undefined && posted.isReused === true && isOver?.() !== true) posted = await post();
      const { answer, failure } = posted;
      if (answer === undefined) return noAnswer(failure);
      const { status, retryAfter } = answer;
      return outcomeOf(status, retryAfter === undefined ? undefined : retryAfterMs(retryAfter, clock.now()));
    },
    [Symbol.dispose]: () => connections[Symbol.dispose](),
  };
}

/** Follows no redirect, uses no proxy, and refuses addresses that are not public unless `allowPrivate` is set. */
function overHttp({ endpoint, resolve, timeoutMs = TIMEOUT_MS }: ConnectOptions): Connections {
  const url = new URL(endpoint.url);
  const lookup = endpoint.allowPrivate ? undefined : publicLookup(resolve);
  const { request, Agent } = url.protocol === 'https:' ? https : http;
  // Without `rejectUnauthorized`, NODE_TLS_REJECT_UNAUTHORIZED=0 would let an impostor receive the events.
  const agent = new Agent({ keepAlive: true, maxFreeSockets: FREE_SOCKETS, lookup, rejectUnauthorized: true });
  return {
    async post(body, headers, signal) {
      const sent = request(url, { method: 'POST', headers, agent, ...(signal && { signal }) });
      using _ = repeatedly(timeoutMs, () => sent.destroy(withCode('ETIMEDOUT', 'no answer in time')));
      sent.on('upgrade', (_response, socket) => {
        socket.destroy();
        sent.emit('error', withCode('SWITCHED_PROTOCOLS', '101'));
      });
      const answered = once(sent, 'response');
      // Errors after the status are ignored, because an answer that breaks off counts by its status.
      sent.on('error', () => undefined).end(body);
      try {
        const [answer] = (await answered) as [IncomingMessage];
        await drained(answer);
        return { answer: { status: answer.statusCode ?? 0, retryAfter: answer.headers['retry-after'] } };
      } catch (failure) {
        return { failure, isReused: sent.reusedSocket };
      }
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}

async function drained(answer: IncomingMessage): Promise<void> {
  let size = 0;
  answer.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > MOST_ANSWER_BYTES) answer.destroy();
  });
  await finished(answer).catch(() => undefined);
}

/** Names an error by its code alone, because its text may quote the address or the headers. */
function noAnswer(failure: unknown): DeliveryOutcome {
  const { code, cause } = (failure ?? {}) as { readonly code?: unknown; readonly cause?: { readonly code?: unknown } };
  const known = [cause?.code, code].find((one) => typeof one === 'string');
  if (known === 'PRIVATE_ADDRESS') return PRIVATE;
  return { kind: 'unavailable', cause: `it does not answer: ${known ?? 'NO_ANSWER'}`, status: 0 };
}

const PRIVATE: DeliveryOutcome = { kind: 'unavailable', cause: PRIVATE_ADDRESS };

/** IPv4 networks that are not public. At 168.63.129.16, Azure serves a machine the secrets of that machine. */
const notPublic4 = networks(
  'ipv4',
  `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
  192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4`,
);
/** A public address is in `public6` and not in `notPublic6`, so it contains no IPv4 address (NAT64, 6to4, Teredo). */
const public6 = networks('ipv6', '2000::/3');
const notPublic6 = networks('ipv6', '2001::/23 2001:db8::/32 2002::/16 3fff::/20');

function networks(family: 'ipv4' | 'ipv6', text: string): BlockList {
  const list = new BlockList();
  for (const network of text.split(/\s+/)) {
    const [address = '', bits] = network.split('/');
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}

export function isPublic(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !notPublic4.check(address, 'ipv4');
  // An address with a zone belongs to a network of this machine.
  if (family !== 6 || address.includes('%')) return false;
  return public6.check(address, 'ipv6') && !notPublic6.check(address, 'ipv6');
}

export type Resolve = (
  host: string,
  callback: (error: NodeJS.ErrnoException | null, addresses: readonly dns.LookupAddress[]) => void,
) => void;

const lookUpAll: Resolve = (host, callback) => dns.lookup(host, { all: true, order: 'verbatim' }, callback);

/** Refuses a host unless all its addresses are public. Node connects to the addresses that the look-up returns. */
export function publicLookup(resolve: Resolve = lookUpAll): LookupFunction {
  return (host, { all }, callback) =>
    resolve(host, (error, found) => {
      const [first] = found ?? [];
      if (error !== null || first === undefined)
        callback(error ?? withCode('ENOTFOUND', 'the host has no address'), '');
      else if (!found.every(({ address }) => isPublic(address)))
        callback(withCode('PRIVATE_ADDRESS', 'the address is not public'), '');
      else if (all === true) callback(null, [...found]);
      else callback(null, first.address, first.family);
    });
}

function withCode(code: string, message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code });
}
