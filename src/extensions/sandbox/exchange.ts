import type { z } from 'zod';
import { hasControlCharacter } from '../../base/text.ts';
import { readUnambiguous } from '../../exchange/json.ts';
import { emailRequest, levelSchema, photoRequest, refuse, type SandboxAnswer, type SandboxRequest } from './api.ts';
import { Clients, type ClientOptions } from './clients.ts';
import { Orders, type OrderOptions, preOrderRequest } from './orders.ts';

export interface SandboxOptions extends OrderOptions, ClientOptions {
  readonly apiKey: string;
  readonly rate?: { readonly requests: number; readonly intervalMs: number };
  readonly photoUrl?: string | undefined;
}

/** Implements §4, §5 and §7 of the interface. Does no input or output. */
export class SandboxExchange extends Orders {
  photoUrl: string | undefined;
  readonly clients: Clients;
  readonly #options: SandboxOptions;
  readonly #times: number[] = [];

  constructor(options: SandboxOptions) {
    super(options);
    this.#options = options;
    this.photoUrl = options.photoUrl;
    this.clients = new Clients(options);
  }

  handle(request: SandboxRequest): SandboxAnswer {
    if (request.headers['x-api-key'] !== this.#options.apiKey) return refuse('keyRefused');
    const waitMs = this.#waitMs();
    if (waitMs <= 0) return answerBy(this, request);
    return refuse('tooManyRequests', undefined, { 'retry-after': String(Math.ceil(waitMs / 1_000)) });
  }

  /** Returns the time in ms until the rate allows a request. Counts a request that is allowed now. */
  #waitMs(): number {
    const { rate, clock } = this.#options;
    if (rate === undefined) return 0;
    const now = clock.monotonic();
    while (this.#times[0] !== undefined && this.#times[0] + rate.intervalMs <= now) this.#times.shift();
    const [oldest] = this.#times;
    if (oldest !== undefined && this.#times.length >= rate.requests) return oldest + rate.intervalMs - now;
    this.#times.push(now);
    return 0;
  }
}

type Values = Readonly<Record<'linkId' | 'level_type' | 'preOrderId' | 'externalOrderId', string>>;

interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query?: keyof Values | undefined;
  readonly serve: (exchange: SandboxExchange, values: Values, request: SandboxRequest) => SandboxAnswer;
}

function get(path: string, serve: Route['serve'], query?: Route['query']): Route {
  return { method: 'GET', path, query, serve };
}

function post<Schema extends z.ZodType>(
  path: string,
  schema: Schema,
  act: (exchange: SandboxExchange, fields: z.output<Schema>, values: Values) => SandboxAnswer,
): Route {
  const serve: Route['serve'] = (exchange, values, { headers, body = '' }) => {
    if (!/^application\/json(;|$)/i.test(headers['content-type'] ?? ''))
      return refuse('malformed', 'content-type: must be application/json');
    const checked = schema.safeParse(readUnambiguous(body));
    if (checked.success) return act(exchange, checked.data, values);
    const [issue] = checked.error.issues;
    return refuse('malformed', `${issue?.path.join('.') || 'body'}: ${issue?.message ?? 'invalid'}`);
  };
  return { method: 'POST', path, serve };
}

const CLIENT = '/api/v1/merchant/client';
const LINK = `${CLIENT}/(?<linkId>[^/]+)`;
const ORDERS = '/api/v1/merchant/orders';

/** All endpoints of §4, in the order of the interface document. */
const ROUTES = {
  createLink: post(CLIENT, emailRequest, ({ clients }, { email }) => clients.create(email)),
  validateEmail: post(`${CLIENT}/validate/email`, emailRequest, ({ clients }, { email }) => clients.validate(email)),
  showLink: get(LINK, ({ clients }, { linkId }) => clients.show(linkId)),
  verificationToken: get(`${LINK}/idv/(?<level_type>[^/]+)`, ({ clients }, { linkId, level_type: level }) =>
    levelSchema.safeParse(level).success
      ? clients.verificationToken(linkId)
      : refuse('malformed', 'level_type: must be MAIN or LIVENESS'),
  ),
  requestPhotos: post(`${LINK}/idv/photos/external/upload`, photoRequest, ({ clients, photoUrl }, wanted, { linkId }) =>
    clients.requestPhotos(linkId, wanted, photoUrl),
  ),
  showCustomer: get(`${LINK}/cardprov/customer`, ({ clients }, { linkId }) => clients.customer(linkId)),
  listCards: get(`${LINK}/cardprov/customer/card`, ({ clients }, { linkId }) => clients.cards(linkId)),
  sdkToken: {
    method: 'POST',
    path: '/api/v1/merchant/sdk/token',
    query: 'linkId',
    serve({ clients }, { linkId }, { headers, body = '' }) {
      if (headers['linkid'] !== linkId)
        return refuse('malformed', 'linkId: the header and the parameter must be equal');
      return body === '' ? clients.sdkToken(linkId) : refuse('malformed', 'body: must be empty');
    },
  },
  createPreOrder: post(`${ORDERS}/request`, preOrderRequest, (exchange, fields) => exchange.create(fields)),
  showPreOrder: get(`${ORDERS}/request/(?<preOrderId>[^/]+)`, (exchange, values) =>
    exchange.showPreOrder(values.preOrderId),
  ),
  showOrder: get(ORDERS, (exchange, values) => exchange.showOrder(values.externalOrderId), 'externalOrderId'),
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof ROUTES;

const LONGEST_ID = 500;
const MATCHERS = Object.values<Route>(ROUTES).map((route) => ({ route, matcher: new RegExp(`^${route.path}$`) }));

/** Serves a request by its method and path. The path is not normalized: `..` stays a part of it. */
function answerBy(exchange: SandboxExchange, request: SandboxRequest): SandboxAnswer {
  const [path = '', ...rest] = request.path.split('?');
  for (const { route, matcher } of MATCHERS) {
    const match = matcher.exec(path);
    if (match === null || route.method !== request.method) continue;
    const values: Record<string, string> = {};
    for (const [parameter, part] of Object.entries(match.groups ?? {})) {
      const id = decodedId(part);
      if (id === undefined) return refuse('malformed', `${parameter}: cannot be an id`);
      values[parameter] = id;
    }
    const query = new URLSearchParams(rest.join('?'));
    const problem = problemOf(query, route.query);
    if (problem !== undefined) return refuse('malformed', problem);
    return route.serve(exchange, { ...Object.fromEntries(query), ...values } as Values, request);
  }
  return refuse('noSuchEndpoint');
}

function problemOf(given: URLSearchParams, wanted: string | undefined): string | undefined {
  if (wanted === undefined) return given.size === 0 ? undefined : 'this endpoint has no parameters';
  if ((given.get(wanted) ?? '') === '') return `${wanted}: is required`;
  return given.size > 1 ? `${wanted}: must be the only parameter, given once` : undefined;
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
