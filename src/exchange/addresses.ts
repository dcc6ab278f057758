import type { HttpRequest } from './transport/http.ts';

export const CLIENTS = '/api/v1/merchant/client';
export const ORDERS = '/api/v1/merchant/orders';

export function get(path: string): HttpRequest {
  return { method: 'GET', path };
}

/** The operations of §4 by the names that metrics use; `other` is a request that only `order-sync probe` sends. */
export type Operation = (typeof OPERATIONS)[number][0] | 'other';

/** The first matching pattern decides. Ids in paths are encoded, so they contain no `/`. */
const OPERATIONS = [
  ['look_up_order', 'GET', /^\/orders\?/],
  ['create_pre_order', 'POST', /^\/orders\/request$/],
  ['show_pre_order', 'GET', /^\/orders\/request\/[^/]+$/],
  ['create_link', 'POST', /^\/client$/],
  ['validate_email', 'POST', /^\/client\/validate\/email$/],
  ['show_link', 'GET', /^\/client\/[^/]+$/],
  ['request_photos', 'POST', /^\/client\/[^/]+\/idv\/photos\//],
  ['verification_token', 'GET', /^\/client\/[^/]+\/idv\/[^/]+$/],
  ['show_customer', 'GET', /^\/client\/[^/]+\/cardprov\/customer$/],
  ['list_cards', 'GET', /^\/client\/[^/]+\/cardprov\/customer\/card$/],
  ['sdk_token', 'POST', /^\/sdk\/token\?/],
] as const;
const BASE = '/api/v1/merchant';

export function operationOf({ method, path }: Pick<HttpRequest, 'method' | 'path'>): Operation {
  const rest = path.startsWith(BASE) ? path.slice(BASE.length) : '';
  return OPERATIONS.find(([, verb, pattern]) => verb === method && pattern.test(rest))?.[0] ?? 'other';
}
