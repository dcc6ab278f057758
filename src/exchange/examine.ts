import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../base/clock.ts';
import type { MerchantOrder } from '../orders/rules/record.ts';
import { withoutAddresses } from '../base/text.ts';
import { CLIENTS, ORDERS } from './addresses.ts';
import { withoutTokens, ask, hide, type UnreadReply } from './reply.ts';
import { pathId, queryId } from './ids.ts';
import { readJson } from './json.ts';
import { preOrderBody } from './orders.ts';
import type { HttpRequest, HttpResponse, Transport } from './transport/http.ts';

/** One request of a probe, how its answer is read, and the answer as evidence. */
export interface Examined {
  readonly reply: UnreadReply;
  readonly evidence: Evidence;
}

/** An answer for people, without key and tokens; `status` is null if none came, and `why` then says why. */
export interface Evidence {
  readonly request: string;
  readonly askedAt: string;
  readonly tookMs: number;
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly why: string | null;
}

const LONGEST_BODY = 20_000;
/** The headers that say something of time, of limits and of the kind of answer; others may hold secrets. */
const HEADERS = /^(date|content-type|retry-after|(x-)?rate-?limit.*)$/;

/** The requests of a probe. None makes anything but `create`. */
export const PROBE_REQUESTS = {
  order: (externalOrderId: string) => examined(`${ORDERS}?externalOrderId=${queryId(externalOrderId)}`),
  preOrder: (preOrderId: string) => examined(`${ORDERS}/request/${pathId(preOrderId)}`),
  link: (linkId: string) => examined(`${CLIENTS}/${pathId(linkId)}`),
  /** An address that the document does not have. */
  nothing: (name: string) => examined(`${ORDERS}/${pathId(name)}/${pathId(name)}`),
  /** §4.9. It makes a pre-order. */
  create: (order: MerchantOrder): HttpRequest => ({
    ...examined(`${ORDERS}/request`),
    method: 'POST',
    body: preOrderBody(order),
    secrets: order.paymentToken === null ? [] : [order.paymentToken],
  }),
};

function examined(path: string): HttpRequest {
  return { method: 'GET', path, isExamined: true };
}

/** Sends one request, and keeps all that is seen of the answer. Never rejects with an answer of the exchange. */
export async function examine(
  transport: Transport,
  clock: Pick<Clock, 'now' | 'monotonic'>,
  request: HttpRequest,
  signal?: AbortSignal,
): Promise<Examined> {
  const askedAt = clock.now();
  const began = clock.monotonic();
  let response: HttpResponse | undefined;
  const send: Transport['send'] = async (...args) => (response = await transport.send(...args));
  const reply = await ask({ send }, clock, request, signal);
  const tookMs = Math.round(clock.monotonic() - began);
  return { reply, evidence: evidenceOf(request, reply, { askedAt, tookMs, response }) };
}

export function notExamined(request: HttpRequest, reply: UnreadReply, clock: Pick<Clock, 'now'>): Examined {
  return { reply, evidence: evidenceOf(request, reply, { askedAt: clock.now(), tookMs: 0, response: undefined }) };
}

function evidenceOf(
  { method, path, secrets = [] }: HttpRequest,
  reply: UnreadReply,
  seen: { readonly askedAt: Date; readonly tookMs: number; readonly response: HttpResponse | undefined },
): Evidence {
  const { askedAt, tookMs, response } = seen;
  const body = response?.body ?? '';
  // A body that is no JSON is evidence too; it has no fields to hide.
  const shown = readJson(body) === undefined ? body : withoutTokens(body);
  return {
    request: `${method} ${path}`,
    askedAt: askedAt.toISOString(),
    tookMs,
    status: response?.status ?? null,
    headers: chosen(response?.headers ?? {}),
    body: withoutAddresses(hide(secrets, shown)).slice(0, LONGEST_BODY),
    why: response === undefined && 'why' in reply ? reply.why : null,
  };
}

function chosen(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  const shown = Object.entries(headers).filter(([name]) => HEADERS.test(name));
  return Object.fromEntries(shown.map(([name, value]) => [name, String(value)]));
}
