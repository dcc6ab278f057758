import type { z } from 'zod';
import type { AnswerName } from './answer-schemas.ts';
import type { RefusalName } from './refusals.ts';
import { emailRequest, photoRequest, preOrderRequest } from './requests.ts';

/** An endpoint of §4. */
export interface Route {
  readonly section: string;
  readonly summary: string;
  readonly method: 'GET' | 'POST';
  /** Its parameters are in braces. */
  readonly path: string;
  /** The only parameter of the query; required. */
  readonly query?: string;
  /** A header that is required besides the key. */
  readonly header?: string;
  readonly body?: z.ZodType;
  readonly answer: AnswerName;
  /** Refusals besides those of all endpoints. */
  readonly refusals: readonly RefusalName[];
}

const CLIENT = '/api/v1/merchant/client';
const ORDERS = '/api/v1/merchant/orders';
const OF_AN_EMAIL = ['invalidEmail', 'linkAlreadyExists', 'badEmailRequest'] as const;

/** All endpoints of §4. */
export const ROUTES = {
  createLink: {
    section: '4.1',
    summary: 'Create link',
    method: 'POST',
    path: CLIENT,
    body: emailRequest,
    answer: 'Link',
    refusals: OF_AN_EMAIL,
  },
  validateEmail: {
    section: '4.2',
    summary: 'Validate client e-mail',
    method: 'POST',
    path: `${CLIENT}/validate/email`,
    body: emailRequest,
    answer: 'Validation',
    refusals: OF_AN_EMAIL,
  },
  showLink: {
    section: '4.3',
    summary: 'Get client by link',
    method: 'GET',
    path: `${CLIENT}/{linkId}`,
    answer: 'Link',
    refusals: ['linkNotFound'],
  },
  verificationToken: {
    section: '4.4',
    summary: 'Get verification token',
    method: 'GET',
    path: `${CLIENT}/{linkId}/idv/{level_type}`,
    answer: 'VerificationToken',
    refusals: ['linkNotFound'],
  },
  requestPhotos: {
    section: '4.5',
    summary: 'Request delivery of verification photos',
    method: 'POST',
    path: `${CLIENT}/{linkId}/idv/photos/external/upload`,
    body: photoRequest,
    answer: 'PhotosRequested',
    refusals: ['uploadUrlNotSet', 'linkNotFound'],
  },
  showCustomer: {
    section: '4.6',
    summary: 'Get customer',
    method: 'GET',
    path: `${CLIENT}/{linkId}/cardprov/customer`,
    answer: 'Customer',
    refusals: ['linkNotFound'],
  },
  listCards: {
    section: '4.7',
    summary: 'Get customer cards',
    method: 'GET',
    path: `${CLIENT}/{linkId}/cardprov/customer/card`,
    answer: 'Cards',
    refusals: ['linkNotFound'],
  },
  sdkToken: {
    section: '4.8',
    summary: 'Get SDK token',
    method: 'POST',
    path: '/api/v1/merchant/sdk/token',
    query: 'linkId',
    header: 'linkId',
    answer: 'SdkToken',
    refusals: ['linkNotFound'],
  },
  createPreOrder: {
    section: '4.9',
    summary: 'Create pre-order',
    method: 'POST',
    path: `${ORDERS}/request`,
    body: preOrderRequest,
    answer: 'PreOrder',
    refusals: [],
  },
  showPreOrder: {
    section: '4.10',
    summary: 'Get pre-order',
    method: 'GET',
    path: `${ORDERS}/request/{preOrderId}`,
    answer: 'PreOrder',
    refusals: ['preOrderNotFound'],
  },
  showOrder: {
    section: '4.11',
    summary: 'Get order by external id',
    method: 'GET',
    path: ORDERS,
    query: 'externalOrderId',
    answer: 'Order',
    refusals: ['orderNotFound'],
  },
} as const satisfies Record<string, Route>;

/** The name of an endpoint. */
export type RouteName = keyof typeof ROUTES;

/** Parameters of a path or a query, decoded. */
export type Values = Readonly<Partial<Record<'linkId' | 'level_type' | 'preOrderId' | 'externalOrderId', string>>>;

/** The endpoint and the parameters of a request, or what is wrong with them; undefined where there is no such endpoint. */
export type Call = { readonly name: RouteName; readonly values: Values } | { readonly problem: string } | undefined;

const LONGEST_ID = 500;
const MATCHERS = (Object.entries(ROUTES) as [RouteName, Route][]).map(([name, route]) => ({
  name,
  route,
  matcher: new RegExp(`^${route.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
}));

/**
 * Finds the endpoint of a method and a path. The path is not normalized: `..` stays a part of it.
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
