import { isLosslessNumber, type LosslessNumber, parse, stringify } from 'lossless-json';
import Big from 'big.js';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { orderRecord, type SandboxPreOrder } from './order-record.ts';
import { SCENARIOS, type Scenario } from './scenario.ts';

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
  /** What each order lives through; the default follows one in ten to a rejection. */
  readonly scenarioOf?: (externalOrderId: string) => Scenario;
  /** How much faster than its scenario an order lives. */
  readonly speed?: number;
  readonly rate?: { readonly requests: number; readonly intervalMs: number };
  readonly merchantId?: string;
}

const exactNumber = z.custom<LosslessNumber>(isLosslessNumber, 'must be a number');
const createSchema = z.object({
  externalOrderId: z.string().min(1),
  asset: exactNumber,
  assetPosition: z.string().min(1),
  currencyPair: z.object({ fromCurrency: z.string().min(1), toCurrency: z.string().min(1) }),
  orderType: z.string().min(1),
  limit: exactNumber.nullish(),
  paymentToken: z.string().nullish(),
  providerType: z.string().nullish(),
  cryptoAddress: z.string().nullish(),
  bonus: exactNumber.nullish(),
});

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
    if (this.#isOverRate())
      return answer(
        429,
        { message: 'too many requests', code: '429', status: 'TOO_MANY_REQUESTS' },
        { 'retry-after': '1' },
      );
    const url = new URL(request.path, 'http://sandbox');
    if (request.method === 'POST' && url.pathname === '/api/v1/merchant/orders/request') return this.#create(request);
    if (request.method === 'GET' && url.pathname === '/api/v1/merchant/orders') {
      return this.#order(url.searchParams.get('externalOrderId') ?? '');
    }
    const [, id] = /^\/api\/v1\/merchant\/orders\/request\/([^/]+)$/.exec(url.pathname) ?? [];
    if (request.method === 'GET' && id !== undefined) return this.#preOrder(decodeURIComponent(id));
    return notFound('no such endpoint');
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
    if (headers['content-type']?.startsWith('application/json') !== true)
      return badRequest('content type must be application/json');
    const read = readJson(body ?? '');
    const checked = createSchema.safeParse(read);
    if (!checked.success) {
      const issue = checked.error.issues[0];
      return badRequest(`${issue?.path.join('.') || 'body'}: ${issue?.message ?? 'invalid'}`);
    }
    const fields = checked.data;
    if (!new Big(fields.asset.value).gt(0)) return badRequest('asset: must be positive');
    const bonus = fields.bonus?.value;
    if (bonus !== undefined && !new Big(bonus).lt(fields.asset.value)) {
      return badRequest('bonus: must be less than the crypto amount');
    }
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

  #preOrder(id: string): SandboxAnswer {
    const preOrder = this.#byId.get(id);
    return preOrder === undefined ? notFound('pre-order not found') : preOrderAnswer(preOrder);
  }

  #order(externalOrderId: string): SandboxAnswer {
    const [preOrder] = this.preOrdersOf(externalOrderId);
    const now = this.#options.clock.now();
    const record =
      preOrder === undefined ? undefined : orderRecord(preOrder, now, this.#options.merchantId ?? 'merchant-1');
    return record === undefined ? notFound('order not found') : answer(200, record);
  }

  #scenarioOf(externalOrderId: string): Scenario {
    const chosen = this.#options.scenarioOf?.(externalOrderId);
    if (chosen !== undefined) return chosen;
    const name = this.#options.random() < 0.1 ? 'rejected' : 'completed';
    return SCENARIOS[name] ?? { appearsAfterMs: null, steps: [] };
  }

  #isOverRate(): boolean {
    const { rate, clock } = this.#options;
    if (rate === undefined) return false;
    const now = clock.monotonic();
    while (this.#times[0] !== undefined && this.#times[0] + rate.intervalMs <= now) this.#times.shift();
    this.#times.push(now);
    return this.#times.length > rate.requests;
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

function readJson(body: string): unknown {
  try {
    return parse(body);
  } catch {
    return undefined;
  }
}
