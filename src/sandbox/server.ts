import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyReply } from 'fastify';
import type { Clock } from '../clock.ts';
import { decideFault, NOT_TAKEN, type Fault, type FaultPlan } from './faults.ts';
import { SandboxExchange, type SandboxAnswer, type SandboxOptions } from './exchange.ts';

/** One request that arrived, for the request log. */
export interface LoggedRequest {
  readonly at: string;
  /** Monotonic milliseconds of arrival. */
  readonly monotonic: number;
  readonly method: string;
  readonly path: string;
  readonly externalOrderId?: string;
  readonly status: number | null;
  readonly fault?: Fault;
}

/** A sandbox that listens. */
export interface Sandbox {
  readonly url: string;
  readonly exchange: SandboxExchange;
  /** The newest requests, at most 100,000. */
  readonly requests: readonly LoggedRequest[];
  close(): Promise<void>;
}

const MAX_LOGGED = 100_000;
const MAX_BODY_BYTES = 1_048_576;

/** Serves a sandbox exchange on loopback. Port 0 is any free one. */
export async function startSandbox(
  options: SandboxOptions & { port?: number; faults?: FaultPlan; onRequest?: (request: LoggedRequest) => void },
): Promise<Sandbox> {
  const exchange = new SandboxExchange(options);
  const requests: LoggedRequest[] = [];
  const log = (request: LoggedRequest) => {
    requests.push(request);
    if (requests.length > MAX_LOGGED) requests.shift();
    options.onRequest?.(request);
  };
  const server = Fastify({ logger: false, bodyLimit: MAX_BODY_BYTES, forceCloseConnections: true });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  server.get('/_sandbox/census', async () => exchange.census());
  server.get('/_sandbox/requests', async () => requests);
  server.all('*', async (request, reply) => {
    const body = typeof request.body === 'string' ? request.body : '';
    const externalOrderId = idOf(request.method, request.url, body);
    const isFirstCreate =
      request.method === 'POST' && externalOrderId !== undefined && !isLoggedCreate(requests, externalOrderId);
    const fault = decideFault(options.faults ?? {}, { externalOrderId, isFirstCreate }, options.random);
    const isTaken = fault === undefined || !NOT_TAKEN.includes(fault);
    const headers = {
      'x-api-key': header(request.headers['x-api-key']),
      'content-type': request.headers['content-type'],
    };
    const answer = isTaken ? exchange.handle({ method: request.method, path: request.url, headers, body }) : undefined;
    log({
      ...stamp(options.clock),
      method: request.method,
      path: request.url,
      ...(externalOrderId === undefined ? {} : { externalOrderId }),
      status: answer?.status ?? null,
      ...(fault === undefined ? {} : { fault }),
    });
    return await respond(reply, answer, fault);
  });
  await server.listen({ port: options.port ?? 0, host: '127.0.0.1' });
  const { port } = server.server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, exchange, requests, close: () => server.close() };
}

async function respond(
  reply: FastifyReply,
  answer: SandboxAnswer | undefined,
  fault: Fault | undefined,
): Promise<FastifyReply> {
  switch (fault) {
    case 'reset-before':
    case 'reset-after':
      reply.hijack();
      reply.raw.socket?.resetAndDestroy();
      return reply;
    case 'hang':
    case 'hang-before':
      reply.hijack();
      return reply;
    case 'truncated': {
      reply.hijack();
      const whole = answer?.body ?? '{}';
      reply.raw.writeHead(200, {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(whole)),
      });
      reply.raw.write(whole.slice(0, whole.length / 2), () => reply.raw.socket?.destroy());
      return reply;
    }
    case 'error-taken':
    case 'error-not-taken':
      return await reply.code(502).type('text/plain').send('bad gateway');
    case 'wrong-json':
      return await reply.code(200).type('application/json').send('{"answer":42}');
    case 'html':
      return await reply.code(200).type('text/html').send('<html><body>maintenance</body></html>');
    case 'redirect':
      return await reply.code(307).header('location', '/elsewhere').send();
    case 'rate-limited':
      return await reply.code(429).header('retry-after', '1').send();
    case undefined:
      return await reply
        .code(answer?.status ?? 500)
        .headers(answer?.headers ?? {})
        .send(answer?.body);
  }
}

function idOf(method: string, path: string, body: string): string | undefined {
  if (method === 'GET') return new URL(path, 'http://sandbox').searchParams.get('externalOrderId') ?? undefined;
  const [, text] = /"externalOrderId":("(?:[^"\\]|\\.)*")/.exec(body) ?? [];
  return text === undefined ? undefined : (JSON.parse(text) as string);
}

/** Only ids that ask for a fault are searched for: the log is long. */
function isLoggedCreate(requests: readonly LoggedRequest[], externalOrderId: string): boolean {
  if (!externalOrderId.startsWith('fault-')) return true;
  return requests.some((one) => one.method === 'POST' && one.externalOrderId === externalOrderId);
}

function stamp(clock: Clock): { at: string; monotonic: number } {
  return { at: clock.now().toISOString(), monotonic: clock.monotonic() };
}

function header(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}
