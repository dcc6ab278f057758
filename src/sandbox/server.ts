import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyRequest } from 'fastify';
import { Deliveries, type LoggedDelivery } from './photos.ts';
import { answerWith, decideFault, namesFault, NOT_TAKEN, type Fault, type FaultPlan } from './faults.ts';
import { SandboxExchange, type SandboxOptions } from './exchange.ts';

export interface LoggedRequest {
  readonly at: string;
  /** The time of arrival in monotonic milliseconds. */
  readonly monotonic: number;
  readonly method: string;
  readonly path: string;
  readonly externalOrderId?: string;
  /** The status before the fault changed it; null when the fault kept the request from the exchange. */
  readonly status: number | null;
  readonly fault?: Fault;
}

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

const MAX_LOGGED = 100_000;
const MAX_BODY_BYTES = 1_048_576;

interface SandboxServerOptions extends SandboxOptions {
  /** The keys of more merchants, each with its own orders, clients and rate. */
  readonly otherKeys?: readonly string[];
  /** 0 chooses a free port. */
  readonly port?: number;
  readonly faults?: FaultPlan;
  readonly onRequest?: (request: LoggedRequest) => void;
  readonly onDelivery?: (delivery: LoggedDelivery) => void;
}

export async function startSandbox(options: SandboxServerOptions) {
  /** By key: no merchant sees the orders of another. */
  const exchanges: ReadonlyMap<string, SandboxExchange> = new Map(
    merchantsOf(options).map((one) => [one.apiKey, new SandboxExchange(one)]),
  );
  const exchange = exchanges.get(options.apiKey)!;
  const deliveries = new Deliveries(options);
  const requests: LoggedRequest[] = [];
  /** Calls whose ids name a fault and that had it already. */
  const faulted = new Set<string>();
  const exchangeOf = (key: string | undefined) => exchanges.get(key ?? '') ?? exchange;
  const server = newServer();
  server.get('/_sandbox/census', async (request) => exchangeOf(headersOf(request)['x-api-key']).census());
  server.get('/_sandbox/requests', async () => requests);
  server.get('/_sandbox/deliveries', async () => deliveries.ended);
  server.all('*', async (request, reply) => {
    const body = typeof request.body === 'string' ? request.body : '';
    const externalOrderId = idOf(request.method, request.url, body);
    const call = request.method === 'POST' ? 'create' : 'lookup';
    const headers = headersOf(request);
    const apiKey = headers['x-api-key'];
    const named = `${apiKey} ${call} ${externalOrderId}`;
    const isFirst = !faulted.has(named);
    if (namesFault(externalOrderId)) faulted.add(named);
    const fault = decideFault(options.faults ?? {}, { call, externalOrderId, isFirst }, options.random);
    const isTaken = fault === undefined || !NOT_TAKEN.includes(fault);
    const { method, url: path } = request;
    const answer = isTaken ? exchangeOf(apiKey).handle({ method, path, headers, body }) : undefined;
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
    return await answerWith(reply, answer, fault, options.clock);
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

/** A server that takes any body as it is. */
function newServer() {
  const server = Fastify({ logger: false, bodyLimit: MAX_BODY_BYTES, forceCloseConnections: true });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  return server;
}

function merchantsOf(options: SandboxServerOptions): readonly SandboxOptions[] {
  const others = (options.otherKeys ?? []).map((apiKey, index) => ({
    ...options,
    apiKey,
    merchantId: `merchant-${index + 2}`,
  }));
  return [options, ...others];
}

/** The external order id of a create or of an order look-up. */
function idOf(method: string, path: string, body: string): string | undefined {
  if (method === 'GET') return URL.parse(path, 'http://sandbox')?.searchParams.get('externalOrderId') ?? undefined;
  const [, text] = /"externalOrderId":("(?:[^"\\]|\\.)*")/.exec(body) ?? [];
  try {
    return text === undefined ? undefined : (JSON.parse(text) as string);
  } catch {
    return undefined;
  }
}

/** Node joins headers of one name, but for cookies that are set. */
function headersOf({ headers }: FastifyRequest): Readonly<Record<string, string | undefined>> {
  return headers as Record<string, string | undefined>;
}
