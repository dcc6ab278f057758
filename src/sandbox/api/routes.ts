import { hasControlCharacter } from '../../domain/text.ts';

/** An endpoint of §4. */
interface Route {
  readonly method: 'GET' | 'POST';
  /** Its parameters are in braces. */
  readonly path: string;
  /** The only parameter of the query; required. */
  readonly query?: string;
}

const CLIENT = '/api/v1/merchant/client';
const LINK = `${CLIENT}/{linkId}`;
const ORDERS = '/api/v1/merchant/orders';

/** All endpoints of §4, in the order of the document. */
export const ROUTES = {
  createLink: { method: 'POST', path: CLIENT },
  validateEmail: { method: 'POST', path: `${CLIENT}/validate/email` },
  showLink: { method: 'GET', path: LINK },
  verificationToken: { method: 'GET', path: `${LINK}/idv/{level_type}` },
  requestPhotos: { method: 'POST', path: `${LINK}/idv/photos/external/upload` },
  showCustomer: { method: 'GET', path: `${LINK}/cardprov/customer` },
  listCards: { method: 'GET', path: `${LINK}/cardprov/customer/card` },
  sdkToken: { method: 'POST', path: '/api/v1/merchant/sdk/token', query: 'linkId' },
  createPreOrder: { method: 'POST', path: `${ORDERS}/request` },
  showPreOrder: { method: 'GET', path: `${ORDERS}/request/{preOrderId}` },
  showOrder: { method: 'GET', path: ORDERS, query: 'externalOrderId' },
} as const satisfies Record<string, Route>;

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
