import type { z } from 'zod';
import { emailRequest, photoRequest, preOrderRequest } from './requests.ts';

/** An endpoint of §4. */
export interface Route {
  readonly method: 'GET' | 'POST';
  /** With its parts that vary in braces. */
  readonly path: string;
  /** The one parameter that it takes and needs. */
  readonly query?: string;
  /** The one header that it needs beside the key. */
  readonly header?: string;
  readonly body?: z.ZodType;
}

const CLIENT = '/api/v1/merchant/client';
const ORDERS = '/api/v1/merchant/orders';

/** All endpoints of §4. */
export const ROUTES = {
  createLink: { method: 'POST', path: CLIENT, body: emailRequest },
  validateEmail: { method: 'POST', path: `${CLIENT}/validate/email`, body: emailRequest },
  showLink: { method: 'GET', path: `${CLIENT}/{linkId}` },
  verificationToken: { method: 'GET', path: `${CLIENT}/{linkId}/idv/{level_type}` },
  requestPhotos: { method: 'POST', path: `${CLIENT}/{linkId}/idv/photos/external/upload`, body: photoRequest },
  showCustomer: { method: 'GET', path: `${CLIENT}/{linkId}/cardprov/customer` },
  listCards: { method: 'GET', path: `${CLIENT}/{linkId}/cardprov/customer/card` },
  sdkToken: { method: 'POST', path: '/api/v1/merchant/sdk/token', query: 'linkId', header: 'linkId' },
  createPreOrder: { method: 'POST', path: `${ORDERS}/request`, body: preOrderRequest },
  showPreOrder: { method: 'GET', path: `${ORDERS}/request/{preOrderId}` },
  showOrder: { method: 'GET', path: ORDERS, query: 'externalOrderId' },
} as const satisfies Record<string, Route>;

/** The name of an endpoint. */
export type RouteName = keyof typeof ROUTES;

/** Parameters of a path or a query, decoded. */
export type Values = Readonly<Partial<Record<'linkId' | 'level_type' | 'preOrderId' | 'externalOrderId', string>>>;

/** A request by its method and path: the endpoint and its parameters, or what is wrong with them. */
export type Call = { readonly name: RouteName; readonly values: Values } | { readonly problem: string } | undefined;

const LONGEST_ID = 500;
const MATCHERS = (Object.entries(ROUTES) as [RouteName, Route][]).map(([name, route]) => ({
  name,
  route,
  matcher: new RegExp(`^${route.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
}));

/**
 * The endpoint that a method and a path name; undefined where there is none. The path is read as it stands: nothing makes
 * `..` the part above it.
 */
export function findRoute(method: string, fullPath: string): Call {
  const [path = '', ...rest] = fullPath.split('?');
  for (const { name, route, matcher } of MATCHERS) {
    const match = route.method === method ? matcher.exec(path) : null;
    if (match === null) continue;
    const values: Partial<Record<string, string>> = {};
    for (const [parameter, part] of Object.entries(match.groups ?? {})) {
      const id = decodedId(part);
      if (id === undefined) return { problem: `${parameter}: cannot be an id` };
      values[parameter] = id;
    }
    const problem = readQuery(route.query, new URLSearchParams(rest.join('?')), values);
    return problem === undefined ? { name, values } : { problem };
  }
  return undefined;
}

function readQuery(
  wanted: string | undefined,
  given: URLSearchParams,
  values: Partial<Record<string, string>>,
): string | undefined {
  if (wanted === undefined) return given.size === 0 ? undefined : 'no parameters are taken here';
  const value = given.get(wanted) ?? '';
  if (value === '') return `${wanted}: is required`;
  if (given.size > 1) return `${wanted}: is the only parameter, once`;
  values[wanted] = value;
  return undefined;
}

function decodedId(part: string): string | undefined {
  try {
    const id = decodeURIComponent(part);
    // eslint-disable-next-line no-control-regex -- control characters are what is looked for
    const isId = id !== '.' && id !== '..' && id.length <= LONGEST_ID && !/[\u0000-\u001f\u007f]/.test(id);
    return isId ? id : undefined;
  } catch {
    return undefined;
  }
}
