import type { z } from 'zod';
import { hasControlCharacter } from '../../domain/text.ts';
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
const LINK = `${CLIENT}/{linkId}`;
const ORDERS = '/api/v1/merchant/orders';
const OF_AN_EMAIL = ['invalidEmail', 'linkAlreadyExists', 'badEmailRequest'] as const;
const OF_A_LINK = ['linkNotFound'] as const;
const email = { body: emailRequest };
const byLink = { query: 'linkId', header: 'linkId' };
const byExternalId = { query: 'externalOrderId' };

const route =
  (method: Route['method']) =>
  (
    section: string,
    summary: string,
    path: string,
    answer: AnswerName,
    refusals: readonly RefusalName[],
    request: Pick<Route, 'query' | 'header' | 'body'> = {},
  ): Route => ({ section, summary, method, path, answer, refusals, ...request });
const get = route('GET');
const post = route('POST');

/** All endpoints of §4: section, summary, path, answer, refusals, and what the request bears besides. */
export const ROUTES = {
  createLink: post('4.1', 'Create link', CLIENT, 'Link', OF_AN_EMAIL, email),
  validateEmail: post('4.2', 'Validate client e-mail', `${CLIENT}/validate/email`, 'Validation', OF_AN_EMAIL, email),
  showLink: get('4.3', 'Get client by link', LINK, 'Link', OF_A_LINK),
  verificationToken: get('4.4', 'Get verification token', `${LINK}/idv/{level_type}`, 'VerificationToken', OF_A_LINK),
  requestPhotos: post(
    '4.5',
    'Request delivery of verification photos',
    `${LINK}/idv/photos/external/upload`,
    'PhotosRequested',
    ['uploadUrlNotSet', 'linkNotFound'],
    { body: photoRequest },
  ),
  showCustomer: get('4.6', 'Get customer', `${LINK}/cardprov/customer`, 'Customer', OF_A_LINK),
  listCards: get('4.7', 'Get customer cards', `${LINK}/cardprov/customer/card`, 'Cards', OF_A_LINK),
  sdkToken: post('4.8', 'Get SDK token', '/api/v1/merchant/sdk/token', 'SdkToken', OF_A_LINK, byLink),
  createPreOrder: post('4.9', 'Create pre-order', `${ORDERS}/request`, 'PreOrder', [], { body: preOrderRequest }),
  showPreOrder: get('4.10', 'Get pre-order', `${ORDERS}/request/{preOrderId}`, 'PreOrder', ['preOrderNotFound']),
  showOrder: get('4.11', 'Get order by external id', ORDERS, 'Order', ['orderNotFound'], byExternalId),
};

/** The name of an endpoint. */
export type RouteName = keyof typeof ROUTES;

/** Parameters of a path or a query, decoded. */
export type Values = Readonly<Partial<Record<'linkId' | 'level_type' | 'preOrderId' | 'externalOrderId', string>>>;

/** The endpoint and the parameters of a request, or what is wrong with them; undefined where there is no such endpoint. */
export type Call = { readonly name: RouteName; readonly values: Values } | { readonly problem: string } | undefined;

const LONGEST_ID = 500;
const MATCHERS = (Object.entries(ROUTES) as [RouteName, Route][]).map(([name, { method, path, query }]) => ({
  name,
  method,
  query,
  matcher: new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
}));

/** Finds the endpoint of a method and a path. The path is not normalized: `..` stays a part of it. */
export function findRoute(method: string, fullPath: string): Call {
  const [path = '', ...rest] = fullPath.split('?');
  for (const { name, query, matcher } of MATCHERS.filter((one) => one.method === method)) {
    const match = matcher.exec(path);
    if (match === null) continue;
    const values: Record<string, string> = {};
    for (const [parameter, part] of Object.entries(match.groups ?? {})) {
      const id = decodedId(part);
      if (id === undefined) return { problem: `${parameter}: cannot be an id` };
      values[parameter] = id;
    }
    const problem = readQuery(query, new URLSearchParams(rest.join('?')), values);
    return problem === undefined ? { name, values } : { problem };
  }
  return undefined;
}

/** Adds the parameter of the query to the values; gives the problem where it is not as wanted. */
function readQuery(wanted: string | undefined, given: URLSearchParams, values: Record<string, string>) {
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
    const isId = id !== '.' && id !== '..' && id.length <= LONGEST_ID && !hasControlCharacter(id);
    return isId ? id : undefined;
  } catch {
    return undefined;
  }
}
