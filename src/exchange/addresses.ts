import type { HttpRequest } from './transport.ts';

/** The addresses of §4 begin with one of these. */
export const CLIENTS = '/api/v1/merchant/client';
export const ORDERS = '/api/v1/merchant/orders';

/** A request without a body; the path is encoded. */
export function get(path: string): HttpRequest {
  return { method: 'GET', path };
}

/** A request with a JSON body; the secrets in it stand in no error. */
export function post(path: string, body: Record<string, string | undefined>, secrets: readonly string[]): HttpRequest {
  return { method: 'POST', path, body: JSON.stringify(body), secrets };
}
