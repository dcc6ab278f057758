import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Clock } from '../clock.ts';
import type { SandboxAnswer } from './api.ts';
import { nameAfter } from './random.ts';
import { tamperingNamedIn } from './tampering.ts';

/** The faults that the sandbox can do to a request, and whether the exchange takes the order all the same. */
const IS_TAKEN = {
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
export const NOT_TAKEN = FAULTS.filter((fault) => !IS_TAKEN[fault]);

/** The probability of each fault, from 0 to 1. */
export type FaultPlan = Readonly<Partial<Record<Fault, number>>>;

interface FaultedRequest {
  readonly call: 'create' | 'lookup';
  readonly externalOrderId: string | undefined;
  readonly isFirst: boolean;
}

const PREFIX = 'fault-';
const PREFIX_OF = { create: PREFIX, lookup: `${PREFIX}lookup-` } as const;

export function namesFault(externalOrderId: string | undefined): externalOrderId is string {
  return externalOrderId?.startsWith(PREFIX) === true;
}

/**
 * Decides the fault of a request. An external order id `fault-<name>-…` has that fault on its first create, and
 * `fault-lookup-<name>-…` on its first look-up. An id that names its tampering has none, so that its findings come from
 * the tampering alone. For other requests the fault is drawn from the plan with `random`.
 */
export function decideFault(plan: FaultPlan, request: FaultedRequest, random: () => number): Fault | undefined {
  const { call, externalOrderId, isFirst } = request;
  if (namesFault(externalOrderId)) return isFirst ? nameAfter(PREFIX_OF[call], externalOrderId, FAULTS) : undefined;
  if (externalOrderId !== undefined && tamperingNamedIn(externalOrderId) !== undefined) return undefined;
  let drawn = random();
  for (const fault of FAULTS) {
    drawn -= plan[fault] ?? 0;
    if (drawn < 0) return fault;
  }
  return undefined;
}

/** The delay of a slow answer: well within the default timeout. */
export const SLOW_MS = 3_000;
/** The pause between two bytes of a dripping answer: it ends after every timeout. */
export const DRIP_MS = 1_000;

/** Sends the answer with its fault; the answer is undefined if the exchange was not asked. */
export async function answerWith(
  reply: FastifyReply,
  answer: SandboxAnswer | undefined,
  fault: Fault | undefined,
  clock: Clock,
): Promise<FastifyReply> {
  const { status = 500, headers = {}, body = '' } = answer ?? {};
  switch (fault) {
    case undefined:
      return await reply.code(status).headers(headers).send(body);
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
    case 'reset-before':
    case 'reset-after':
      reply.hijack();
      reply.raw.socket?.resetAndDestroy();
      return reply;
    case 'hang':
    case 'hang-before':
      reply.hijack();
      return reply;
    case 'slow':
    case 'drip':
    case 'truncated':
      reply.hijack();
      reply.raw.writeHead(status, { ...headers, 'content-length': String(Buffer.byteLength(body)) });
      if (fault === 'truncated') reply.raw.write(body.slice(0, body.length / 2), () => reply.raw.socket?.destroy());
      else await sendInTime(reply.raw, Buffer.from(body), fault, clock);
      return reply;
  }
}

async function sendInTime(raw: ServerResponse, body: Buffer, fault: 'slow' | 'drip', clock: Clock): Promise<void> {
  const closed = new AbortController();
  raw.once('close', () => closed.abort());
  const [size, pauseMs] = fault === 'slow' ? [body.length, SLOW_MS] : [1, DRIP_MS];
  try {
    for (let at = 0; at < body.length; at += size) {
      await clock.sleep(pauseMs, closed.signal);
      raw.write(body.subarray(at, at + size));
    }
    raw.end();
  } catch (error) {
    // The other side, or the sandbox itself, has closed the connection.
    if (!closed.signal.aborted) throw error;
  }
}
