import { stringify } from 'lossless-json';
import type { Clock } from '../clock.ts';
import { readCreate } from './create-request.ts';
import { orderRecord, type SandboxPreOrder } from './order-record.ts';
import { SCENARIOS, scenarioNamedIn, type Scenario } from './scenario.ts';

/** A request as the sandbox sees it; header names in lower case. */
export interface SandboxRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
}

/** An answer of the sandbox. */
export interface SandboxAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Settings of the sandbox; times in milliseconds. */
export interface SandboxOptions {
  readonly apiKey: string;
  readonly clock: Clock;
  readonly random: () => number;
  /**
   * What an order lives through. Without it, or where it is undefined, an id `scenario-<name>-…` has that scenario, and
   * of the others one in ten is rejected.
   */
  readonly scenarioOf?: (externalOrderId: string) => Scenario | undefined;
  /** How much faster than its scenario an order lives. */
  readonly speed?: number;
  readonly rate?: { readonly requests: number; readonly intervalMs: number };
  readonly merchantId?: string;
}

const ORDERS = '/api/v1/merchant/orders';
const REQUESTS = '/api/v1/merchant/orders/request';
const PRE_ORDER = /^\/api\/v1\/merchant\/orders\/request\/([^/]+)$/;

/**
 * An exchange to run against, without any input or output of its own: §4.9, §4.10, §4.11, with §5 and §7. As the
 * interface has no idempotency, an external order id that is sent twice makes two pre-orders.
 */
export class SandboxExchange {
  readonly #options: SandboxOptions;
  readonly #byId = new Map<string, SandboxPreOrder>();
  readonly #byExternalId = new Map<string, SandboxPreOrder[]>();
  readonly #times: number[] = [];
  #ordersMade = 0;

  constructor(options: SandboxOptions) {
    this.#options = options;
  }

  /** Answers one request. */
  handle(request: SandboxRequest): SandboxAnswer {
    if (request.headers['x-api-key'] !== this.#options.apiKey) {
      return answer(401, { message: 'invalid x-api-key', code: '401', status: 'UNAUTHORIZED' });
    }
    const waitMs = this.#waitMs();
    if (waitMs > 0) return tooManyRequests(waitMs);
    const url = URL.parse(`http://sandbox${request.path}`);
    if (url === null) return badRequest('the address cannot be read');
    if (request.method === 'GET' && url.pathname === ORDERS) return this.#order(url.searchParams);
    const isCreate = request.method === 'POST' && url.pathname === REQUESTS;
    const [, id] = (request.method === 'GET' ? PRE_ORDER.exec(url.pathname) : null) ?? [];
    if (!isCreate && id === undefined) return notFound('no such endpoint');
    if (url.search !== '') return badRequest('no parameters are taken here');
    return id === undefined ? this.#create(request) : this.#preOrder(id);
  }

  /** Every pre-order that was made for an external order id: more than one means it was created twice. */
  preOrdersOf(externalOrderId: string): readonly SandboxPreOrder[] {
    return this.#byExternalId.get(externalOrderId) ?? [];
  }

  /** How many pre-orders there are, and the external order ids that have more than one. */
  census(): { preOrders: number; duplicated: string[] } {
    const duplicated = [...this.#byExternalId].filter(([, made]) => made.length > 1).map(([id]) => id);
    return { preOrders: this.#byId.size, duplicated };
  }

  #create({ headers, body }: SandboxRequest): SandboxAnswer {
    if (!/^application\/json(;|$)/i.test(headers['content-type'] ?? '')) {
      return badRequest('content-type: must be application/json');
    }
    const read = readCreate(body ?? '');
    if ('problem' in read) return badRequest(read.problem);
    const { fields } = read;
    this.#ordersMade += 1;
    const preOrder: SandboxPreOrder = {
      id: `pre-${this.#ordersMade}`,
      number: this.#ordersMade,
      createdAt: this.#options.clock.now(),
      externalOrderId: fields.externalOrderId,
      fields: { ...fields, exchangeType: 'SELL' },
      asset: fields.asset.value,
      scenario: this.#scenarioOf(fields.externalOrderId),
      speed: this.#options.speed ?? 1,
    };
    this.#byId.set(preOrder.id, preOrder);
    const made = this.#byExternalId.get(preOrder.externalOrderId);
    if (made === undefined) this.#byExternalId.set(preOrder.externalOrderId, [preOrder]);
    else made.push(preOrder);
    return preOrderAnswer(preOrder);
  }

  #preOrder(encodedId: string): SandboxAnswer {
    const id = decoded(encodedId);
    if (id === undefined) return badRequest('preOrderId: cannot be decoded');
    const preOrder = this.#byId.get(id);
    return preOrder === undefined ? notFound('pre-order not found') : preOrderAnswer(preOrder);
  }

  #order(parameters: URLSearchParams): SandboxAnswer {
    const externalOrderId = parameters.get('externalOrderId') ?? '';
    if (externalOrderId === '') return badRequest('externalOrderId: is required');
    if (parameters.size > 1) return badRequest('externalOrderId: is the only parameter, once');
    const [preOrder] = this.preOrdersOf(externalOrderId);
    const { clock, merchantId } = this.#options;
    const record = preOrder && orderRecord(preOrder, clock.now(), merchantId ?? 'merchant-1');
    return record === undefined ? notFound('order not found') : answer(200, record);
  }

  #scenarioOf(externalOrderId: string): Scenario {
    const chosen = this.#options.scenarioOf?.(externalOrderId) ?? scenarioNamedIn(externalOrderId, SCENARIOS);
    if (chosen !== undefined) return chosen;
    const name = this.#options.random() < 0.1 ? 'rejected' : 'completed';
    return SCENARIOS[name] ?? { appearsAfterMs: null, steps: [] };
  }

  /** How long a request has to wait for the rate limit; one that need not is counted. */
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

function preOrderAnswer({ id, fields }: SandboxPreOrder): SandboxAnswer {
  const nothing = { limit: null, paymentToken: null, providerType: null, cryptoAddress: null, bonus: null };
  return answer(200, { ...nothing, ...fields, id });
}

function badRequest(message: string): SandboxAnswer {
  return answer(400, { message, code: '400', status: 'BAD_REQUEST' });
}

function notFound(message: string): SandboxAnswer {
  return answer(404, { message, code: '404', status: 'NOT_FOUND' });
}

function answer(status: number, body: unknown, headers: Record<string, string> = {}): SandboxAnswer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: stringify(body) ?? '' };
}

function tooManyRequests(waitMs: number): SandboxAnswer {
  const body = { message: 'too many requests', code: '429', status: 'TOO_MANY_REQUESTS' };
  return answer(429, body, { 'retry-after': String(Math.ceil(waitMs / 1_000)) });
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
