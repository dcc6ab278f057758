import type { AddressInfo } from 'node:net';
import type { ServerResponse } from 'node:http';
import Fastify, { type FastifyRequest, type FastifyReply } from 'fastify';
import { photoDeliveries, type LoggedDelivery } from './photos.ts';
import { SandboxExchange, type SandboxOptions } from './exchange.ts';
import type { Clock } from '../../base/clock.ts';
import { readUnambiguous } from '../../exchange/json.ts';
import type { SandboxAnswer } from './api.ts';
import { nameAfter } from './random.ts';
import { tamperingNamedIn } from './tampering.ts';

/** The faults of a request. If the value is true, the exchange handles the request all the same. */
export const IS_TAKEN = {
  'reset-before': false,
  'reset-after': true,
  'error-not-taken': false,
  'error-taken': true,
  'hang-before': false,
  hang: true,
  slow: true,
  drip: true,
  truncated: true,
  'wrong-json': true,
  html: true,
  redirect: false,
  'rate-limited': false,
};

export type Fault = keyof typeof IS_TAKEN;
export const FAULTS = Object.keys(IS_TAKEN) as readonly Fault[];

export type FaultPlan = Readonly<Partial<Record<Fault, number>>>;

type FaultedRequest = Readonly<{ call: 'create' | 'lookup'; externalOrderId: string | undefined; isFirst: boolean }>;

const PREFIX = 'fault-';
const PREFIX_OF = { create: PREFIX, lookup: `${PREFIX}lookup-` } as const;

function namesFault(externalOrderId: string | undefined): externalOrderId is string {
  return externalOrderId?.startsWith(PREFIX) === true;
}

/** `order-sync sandbox --help` says which ids have a fault. For other ids, the probabilities in `plan` decide. */
export function decideFault(plan: FaultPlan, request: FaultedRequest, random: () => number): Fault | undefined {
  const { call, externalOrderId, isFirst } = request;
  if (namesFault(externalOrderId)) return isFirst ? nameAfter(PREFIX_OF[call], externalOrderId, FAULTS) : undefined;
  // A fault might cause other findings than the tampering.
  if (externalOrderId !== undefined && tamperingNamedIn(externalOrderId) !== undefined) return undefined;
  let drawn = random();
  for (const fault of FAULTS) {
    drawn -= plan[fault] ?? 0;
    if (drawn < 0) return fault;
  }
  return undefined;
}

/** The delay of a slow answer, within the default timeout. */
export const SLOW_MS = 3_000;
/** The pause between two bytes of a dripping answer, which takes longer than the default timeout. */
export const DRIP_MS = 1_000;

const of = (status: number, headers: SandboxAnswer['headers'], body = ''): SandboxAnswer => ({ status, headers, body });
const BAD_GATEWAY = of(502, { 'content-type': 'text/plain' }, 'bad gateway');
/** The whole answer of a request with one of these faults. */
const FAULTY: Partial<Record<Fault, SandboxAnswer>> = {
  'error-not-taken': BAD_GATEWAY,
  'error-taken': BAD_GATEWAY,
  'wrong-json': of(200, { 'content-type': 'application/json' }, '{"answer":42}'),
  html: of(200, { 'content-type': 'text/html' }, '<html><body>maintenance</body></html>'),
  redirect: of(307, { location: '/elsewhere' }),
  'rate-limited': of(429, { 'retry-after': '1' }),
};

async function answerWith(clock: Clock, reply: FastifyReply, answer?: SandboxAnswer, fault?: Fault) {
  const faulty = fault && FAULTY[fault];
  const { status = 500, headers = {}, body = '' } = faulty ?? answer ?? {};
  if (fault === undefined || faulty !== undefined) return await reply.code(status).headers(headers).send(body);
  reply.hijack();
  const { raw } = reply;
  if (fault.startsWith('reset')) raw.socket?.resetAndDestroy();
  if (fault.startsWith('reset') || fault.startsWith('hang')) return reply;
  raw.writeHead(status, { ...headers, 'content-length': String(Buffer.byteLength(body)) });
  if (fault === 'truncated') raw.write(body.slice(0, body.length / 2), () => raw.socket?.destroy());
  else await sendInTime(raw, Buffer.from(body), fault === 'slow', clock);
  return reply;
}

async function sendInTime(raw: ServerResponse, body: Buffer, atOnce: boolean, clock: Clock): Promise<void> {
  const closed = new AbortController();
  raw.once('close', () => closed.abort());
  const [size, pauseMs] = atOnce ? [body.length, SLOW_MS] : [1, DRIP_MS];
  for (let at = 0; at < body.length; at += size) {
    await clock.sleep(pauseMs, closed.signal).catch(() => undefined);
    if (closed.signal.aborted) return;
    raw.write(body.subarray(at, at + size));
  }
  raw.end();
}

export interface LoggedRequest {
  readonly at: string;
  /** The time of arrival in monotonic milliseconds. */
  readonly monotonic: number;
  readonly method: string;
  readonly path: string;
  readonly externalOrderId?: string;
  /** The status before the fault changed it; null if the fault kept the request from the exchange. */
  readonly status: number | null;
  readonly fault?: Fault;
}

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

const MAX_LOGGED = 100_000;
const MAX_BODY_BYTES = 1_048_576;

export interface SandboxServerOptions extends SandboxOptions {
  readonly otherKeys?: readonly string[];
  readonly port?: number;
  readonly faults?: FaultPlan;
  readonly onRequest?: (request: LoggedRequest) => void;
  readonly onDelivery?: (delivery: LoggedDelivery) => void;
}

export async function startSandbox(options: SandboxServerOptions) {
  /** Each key has its own exchange, because no merchant sees the orders of another merchant. */
  const exchanges = new Map<string, SandboxExchange>([[options.apiKey, new SandboxExchange(options)]]);
  for (const [index, apiKey] of (options.otherKeys ?? []).entries()) {
    exchanges.set(apiKey, new SandboxExchange({ ...options, apiKey, merchantId: `merchant-${index + 2}` }));
  }
  const exchange = exchanges.get(options.apiKey)!;
  const deliveries = photoDeliveries(options);
  const requests: LoggedRequest[] = [];
  const faulted = new Set<string>();
  const exchangeOf = ({ headers }: FastifyRequest) => exchanges.get(String(headers['x-api-key'])) ?? exchange;
  const server = newServer();
  server.get('/_sandbox/census', async (request) => exchangeOf(request).census());
  server.get('/_sandbox/requests', async () => requests);
  server.get('/_sandbox/deliveries', async () => deliveries.ended);
  server.all('*', async (request, reply) => {
    const body = typeof request.body === 'string' ? request.body : '';
    const externalOrderId = idOf(request.method, request.url, body);
    const call = request.method === 'POST' ? 'create' : 'lookup';
    // Each value is a string, because Node makes arrays only of `set-cookie` headers.
    const headers = request.headers as Record<string, string | undefined>;
    const named = `${headers['x-api-key']} ${call} ${externalOrderId}`;
    const isFirst = !faulted.has(named);
    if (namesFault(externalOrderId)) faulted.add(named);
    const fault = decideFault(options.faults ?? {}, { call, externalOrderId, isFirst }, options.random);
    const { method, url: path } = request;
    const isTaken = fault === undefined || IS_TAKEN[fault];
    const answer = isTaken ? exchangeOf(request).handle({ method, path, headers, body }) : undefined;
    const logged: LoggedRequest = {
      at: options.clock.now().toISOString(),
      monotonic: options.clock.monotonic(),
      method,
      path,
      ...(externalOrderId !== undefined && { externalOrderId }),
      status: answer?.status ?? null,
      ...(fault !== undefined && { fault }),
    };
    if (requests.push(logged) > MAX_LOGGED) requests.shift();
    options.onRequest?.(logged);
    const delivery = answer?.delivery;
    if (delivery !== undefined) reply.raw.once('close', () => deliveries.begin(delivery));
    return await answerWith(options.clock, reply, answer, fault);
  });
  await server.listen({ port: options.port ?? 0, host: '127.0.0.1' });
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    exchange,
    exchanges,
    requests,
    deliveries: deliveries.ended,
    async close(): Promise<void> {
      await server.close();
      await deliveries.close();
    },
  };
}

function newServer() {
  const server = Fastify({ logger: false, bodyLimit: MAX_BODY_BYTES, forceCloseConnections: true });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  return server;
}

function idOf(method: string, path: string, body: string): string | undefined {
  if (method === 'GET') return URL.parse(path, 'http://sandbox')?.searchParams.get('externalOrderId') ?? undefined;
  const [, text = ''] = /"externalOrderId":("(?:[^"\\]|\\.)*")/.exec(body) ?? [];
  return readUnambiguous(text) as string | undefined;
}
