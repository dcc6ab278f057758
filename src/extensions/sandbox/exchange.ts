import {
  refuse,
  type SandboxAnswer,
  type SandboxRequest,
  emailRequest,
  levelSchema,
  photoRequest,
  withBody,
  findRoute,
  type RouteName,
  type Values,
} from './api.ts';
import { Clients, type ClientOptions } from './clients.ts';
import type { SandboxPreOrder } from './order-record.ts';
import { Orders, type OrderOptions, preOrderRequest } from './orders.ts';

export interface SandboxOptions extends OrderOptions, ClientOptions {
  readonly apiKey: string;
  readonly rate?: { readonly requests: number; readonly intervalMs: number };
  readonly photoUrl?: string | undefined;
}

/** An exchange to run against: all of §4, with §5 and §7. It does no input or output by itself. */
export class SandboxExchange {
  photoUrl: string | undefined;
  readonly #options: SandboxOptions;
  readonly #orders: Orders;
  readonly #clients: Clients;
  readonly #times: number[] = [];

  constructor(options: SandboxOptions) {
    this.#options = options;
    this.photoUrl = options.photoUrl;
    this.#orders = new Orders(options);
    this.#clients = new Clients(options);
  }

  handle(request: SandboxRequest): SandboxAnswer {
    if (request.headers['x-api-key'] !== this.#options.apiKey) return refuse('keyRefused');
    const waitMs = this.#waitMs();
    if (waitMs > 0) {
      return refuse('tooManyRequests', undefined, { 'retry-after': String(Math.ceil(waitMs / 1_000)) });
    }
    const call = findRoute(request.method, request.path);
    if (call === undefined) return refuse('noSuchEndpoint');
    return 'problem' in call ? refuse('malformed', call.problem) : this.#serve(call.name, call.values, request);
  }

  preOrdersOf(externalOrderId: string): readonly SandboxPreOrder[] {
    return this.#orders.madeFor(externalOrderId);
  }

  census(): { preOrders: number; duplicated: string[] } {
    return this.#orders.census();
  }

  #serve(name: RouteName, values: Values, request: SandboxRequest): SandboxAnswer {
    const { linkId = '', level_type: level, preOrderId = '', externalOrderId = '' } = values;
    switch (name) {
      case 'createLink':
        return withBody(emailRequest, request, ({ email }) => this.#clients.create(email));
      case 'validateEmail':
        return withBody(emailRequest, request, ({ email }) => this.#clients.validate(email));
      case 'showLink':
        return this.#clients.show(linkId);
      case 'verificationToken':
        if (!levelSchema.safeParse(level).success) return refuse('malformed', 'level_type: must be MAIN or LIVENESS');
        return this.#clients.verificationToken(linkId);
      case 'requestPhotos':
        return withBody(photoRequest, request, (wanted) => this.#clients.requestPhotos(linkId, wanted, this.photoUrl));
      case 'showCustomer':
        return this.#clients.customer(linkId);
      case 'listCards':
        return this.#clients.cards(linkId);
      case 'sdkToken':
        if (request.headers['linkid'] !== linkId)
          return refuse('malformed', 'linkId: the header must say what the parameter says');
        if ((request.body ?? '') !== '') return refuse('malformed', 'body: none is taken here');
        return this.#clients.sdkToken(linkId);
      case 'createPreOrder':
        return withBody(preOrderRequest, request, (fields) => this.#orders.create(fields));
      case 'showPreOrder':
        return this.#orders.showPreOrder(preOrderId);
      case 'showOrder':
        return this.#orders.showOrder(externalOrderId);
    }
  }

  /** Gives the time until the rate limit allows the request; a request that is allowed is counted. */
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
