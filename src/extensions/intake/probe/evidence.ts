import { z } from 'zod';
import type { MerchantOrder } from '../../../orders/rules/record.ts';
import { withoutAddresses } from '../../../base/text.ts';
import { CLIENTS, ORDERS } from '../../../exchange/addresses.ts';
import type { Examined } from '../../../exchange/client.ts';
import { hide } from '../../../exchange/reply.ts';
import { pathId, queryId } from '../../../exchange/ids.ts';
import { readJson } from '../../../exchange/json.ts';
import { createRequest } from '../../../exchange/orders.ts';
import type { HttpRequest } from '../../../exchange/transport/http.ts';
import { withoutTokens } from '../../documents/hidden-tokens.ts';

/** An answer for people, without key and tokens. If no answer came, `status` is null and `why` is set. */
export const evidence = z.object({
  request: z.string(),
  askedAt: z.string(),
  tookMs: z.number(),
  status: z.number().nullable(),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
  why: z.string().nullable(),
});
export type Evidence = Readonly<z.output<typeof evidence>>;

const LONGEST_BODY = 20_000;
/** The headers that say something of time, of limits and of the kind of answer; others may hold secrets. */
const HEADERS = /^(date|content-type|retry-after|(x-)?rate-?limit.*)$/;

/** The requests of a probe. Only `create` makes something. */
export const PROBE_REQUESTS = {
  order: (externalOrderId: string) => examined(`${ORDERS}?externalOrderId=${queryId(externalOrderId)}`),
  preOrder: (preOrderId: string) => examined(`${ORDERS}/request/${pathId(preOrderId)}`),
  link: (linkId: string) => examined(`${CLIENTS}/${pathId(linkId)}`),
  /** An address that the document does not have. */
  nothing: (name: string) => examined(`${ORDERS}/${pathId(name)}/${pathId(name)}`),
  create: (order: MerchantOrder): HttpRequest => ({ ...createRequest(order), isExamined: true }),
};

const examined = (path: string): HttpRequest => ({ method: 'GET', path, isExamined: true });

export function evidenceOf({ method, path, secrets = [] }: HttpRequest, examination: Examined): Evidence {
  const { reply, askedAt, tookMs, response } = examination;
  const headers = Object.entries(response?.headers ?? {}).filter(([name]) => HEADERS.test(name));
  const body = response?.body ?? '';
  // A body that is no JSON is evidence too; it has no fields to hide.
  const shown = readJson(body) === undefined ? body : withoutTokens(body);
  return {
    request: `${method} ${path}`,
    askedAt: askedAt.toISOString(),
    tookMs,
    status: response?.status ?? null,
    headers: Object.fromEntries(headers.map(([name, value]) => [name, String(value)])),
    body: withoutAddresses(hide(secrets, shown)).slice(0, LONGEST_BODY),
    why: response === undefined && 'why' in reply ? reply.why : null,
  };
}
