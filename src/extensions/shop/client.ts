import { Asker, type CallOptions, type DecisionOptions, type Operation, type OrderSyncOptions } from './ask.ts';
import { OrderSyncError } from './errors.ts';
import { withCursor } from './cursor.ts';
import type { EventOfType, EventType } from './event.ts';
import { followEvents, readPage, type EventFilter, type EventPage } from './follow.ts';
import type * as v from './values.ts';

export { OrderSyncError } from './errors.ts';
export type { ErrorKind, InvalidReason, RefusalReason } from './errors.ts';
export type { CallOptions, DecisionOptions, OrderSyncOptions } from './ask.ts';
export type { EventFilter, EventPage } from './follow.ts';
export type { OrderState } from './schema.ts';
export type * from './event.ts';
export type * from './values.ts';

interface Reason {
  /** Text for people, which the history keeps. */
  readonly reason: string;
}

export type Resolution = Reason &
  (
    | { readonly as: 'exists'; readonly preOrderId: string }
    | { readonly as: 'not-created'; readonly mayDuplicate?: boolean }
    | { readonly as: 'ours' | 'abandoned' }
  );

type Paged = Readonly<{ after?: string; limit?: number }>;
type VerificationLevel = 'MAIN' | 'LIVENESS';

const SYNC_TIMEOUT_MS = 600_000;
const SYNC_GRACE_MS = 30_000;

const read = (path: string): Operation => ({ method: 'GET', path, isSafe: true });
const readExact = (path: string): Operation => ({ ...read(path), isExact: true });
const write = (path: string): Operation => ({ method: 'POST', path });
const writeExact = (path: string): Operation => ({ ...write(path), isExact: true });
const writeKeyed = (path: string): Operation => ({ ...write(path), isSafe: true, isKeyed: true });

/** The client of a shop. It has nothing that the shop must close. */
export class OrderSync {
  readonly #api: Asker;

  constructor(options: OrderSyncOptions) {
    this.#api = new Asker(options);
  }

  /** Returns the state of order-sync and of the account's orders. */
  async status(options?: CallOptions): Promise<v.Status> {
    return await this.#api.ask(read('/status'), {}, options);
  }

  /** Runs one pass, which sends and looks up orders. The pass ends after at most `timeoutMs`, by default 600,000. */
  async sync({
    scope,
    signal,
    timeoutMs = SYNC_TIMEOUT_MS,
  }: CallOptions & { readonly scope?: 'all' | 'due' } = {}): Promise<v.SyncResult> {
    const limits = { signal, timeoutMs: timeoutMs + SYNC_GRACE_MS };
    const text = await this.#api.text(write('/sync'), { query: { scope, timeoutMs } }, limits);
    const line = /\{[^\n]*\}\s*$/.exec(text)?.[0] ?? '{}';
    const last = JSON.parse(line) as v.SyncResult & { readonly type: string; readonly message: string };
    if (last.type === 'result') return last;
    throw new OrderSyncError('failed', last.message ?? 'the pass ended without a result', { status: 200 });
  }

  readonly orders = {
    /** Inserts an order once. Rejects with `invalid` (409) if an order with the same id and other content exists. */
    add: (order: v.OrderToAdd, options?: CallOptions) =>
      this.#api.ask<v.AddedOrder>({ ...write('/orders'), isSafe: true }, { body: order }, options),
    /** Inserts an order that exists at the exchange, so that it is followed and never created. */
    adopt: (order: v.OrderToAdd, options?: CallOptions) =>
      this.#api.ask<v.AdoptedOrder>(write('/orders/adopt'), { body: order }, options),
    /** The order as the database has it, with its events and findings. */
    get: async (externalOrderId: string, options?: CallOptions): Promise<v.StoredOrder> => {
      const stored = await this.#api.ask<v.StoredOrder>(read('/orders/:id'), { ids: [externalOrderId] }, options);
      for (const event of stored.events) withCursor(event);
      return stored;
    },
    /** A page of orders, the newest first. */
    list: (query: Paged & Readonly<{ state?: v.OrderRow['state'] }> = {}, options?: CallOptions) =>
      this.#api.ask<v.OrderList>(read('/merchant-orders'), { query }, options),
    /** The history of the order and its next steps, in sentences. */
    explain: (externalOrderId: string, options?: CallOptions) =>
      this.#api.ask<v.Explanation>(read('/orders/:id/explanation'), { ids: [externalOrderId] }, options),
    /** The order record, as the exchange answers now. */
    lookUp: (externalOrderId: string, options?: CallOptions) =>
      this.#api.ask<v.OrderRecord>(readExact('/orders'), { query: { externalOrderId } }, options),
  };

  readonly preOrders = {
    /** The pre-order, as the exchange answers now. */
    get: (id: string, options?: CallOptions) =>
      this.#api.ask<v.PreOrder>(readExact('/pre-orders/:id'), { ids: [id] }, options),
  };

  readonly events = {
    /** Returns a page of events. The next page begins after the cursor `next`. */
    list: async <Type extends EventType = EventType>(
      filter: EventFilter<Type> & { readonly limit?: number } = {},
      options: CallOptions = {},
    ): Promise<EventPage<Type>> => await readPage(this.#api, filter, options),
    /**
     * Yields every event after a cursor, and then each new event, until `signal` aborts. Reconnects by itself. Throws
     * only if another try would fail too, for example because the token or the cursor is refused.
     */
    follow: <Type extends EventType = EventType>(filter: EventFilter<Type> & { readonly signal?: AbortSignal } = {}) =>
      followEvents(this.#api, filter, filter.signal) as AsyncGenerator<EventOfType<Type>, void, undefined>,
  };

  readonly findings = {
    list: (
      query: Paged & Readonly<{ class?: string; status?: v.Finding['status']; order?: string }> = {},
      options?: CallOptions,
    ) => this.#api.ask<v.FindingList>(read('/findings'), { query }, options),
  };

  readonly clients = {
    /** Registers a client and makes a link, or links a registered client. */
    create: (client: { readonly email: string; readonly reference?: string | null }, options: DecisionOptions = {}) =>
      this.#api.ask<v.Link>({ ...writeKeyed('/clients'), isExact: true }, { body: client }, options),
    /** Asks if a link could be made for an e-mail address. */
    validateEmail: (email: string, options?: CallOptions) =>
      this.#api.ask<v.Validation>(writeExact('/clients/validate'), { body: { email } }, options),
    get: (linkId: string, options?: CallOptions) =>
      this.#api.ask<v.Link>(readExact('/clients/:id'), { ids: [linkId] }, options),
    /** Looks a link up and stores it, so that order-sync follows its status. */
    follow: (linkId: string, body?: { readonly reference?: string | null }, options?: CallOptions) =>
      this.#api.ask<v.Link>(writeExact('/clients/:id/follow'), { ids: [linkId], body }, options),
    verificationToken: (linkId: string, level: VerificationLevel, options?: CallOptions) =>
      this.#api.ask<v.VerificationToken>(readExact('/clients/:id/idv/:level'), { ids: [linkId, level] }, options),
    /** Asks for the delivery of verification photos. */
    requestPhotos: (
      linkId: string,
      body: { readonly level: VerificationLevel; readonly actionId?: string; readonly token?: string },
      options?: CallOptions,
    ) => this.#api.ask<v.PhotoRequest>(writeExact('/clients/:id/idv/photos'), { ids: [linkId], body }, options),
    customer: (linkId: string, options?: CallOptions) =>
      this.#api.ask<v.Customer>(readExact('/clients/:id/customer'), { ids: [linkId] }, options),
    cards: (linkId: string, options?: CallOptions) =>
      this.#api.ask<readonly v.Card[]>(readExact('/clients/:id/cards'), { ids: [linkId] }, options),
    sdkToken: (linkId: string, options?: CallOptions) =>
      this.#api.ask<v.SdkToken>(writeExact('/clients/:id/sdk-token'), { ids: [linkId] }, options),
    /** The newest links that order-sync has stored. */
    links: (query: { readonly status?: string; readonly limit?: number } = {}, options?: CallOptions) =>
      this.#api.ask<readonly v.RememberedLink[]>(read('/links'), { query }, options),
  };

  /** The decisions of a person, recorded under the name of the token, or as `control socket`. */
  readonly decisions = {
    /** Records what became of an order that was sent. */
    resolve: this.#decide<Resolution>('resolve'),
    /** Makes a rejected or invalid order pending, so that it is sent. An unknown or held order needs `mayDuplicate`. */
    retry: this.#decide<Reason & { readonly mayDuplicate?: boolean }>('retry'),
    /** Ends a pending order, so that it is not sent. */
    cancel: this.#decide<Reason>('cancel'),
    acknowledge: (findingId: number, body: Reason, options: DecisionOptions = {}) =>
      this.#api.ask<v.Acknowledged>(
        writeKeyed('/findings/:id/acknowledge'),
        { ids: [String(findingId)], body },
        options,
      ),
    /** Stops creates, or all requests, of the account. */
    pause: (body: Reason & { readonly what: 'creates' | 'all' }, options: DecisionOptions = {}) =>
      this.#api.ask<v.Holds>(writeKeyed('/pause'), { body }, options),
    resume: (body: Reason, options: DecisionOptions = {}) =>
      this.#api.ask<v.Holds>(writeKeyed('/resume'), { body }, options),
  };

  #decide<Body extends Reason>(verb: string) {
    return (externalOrderId: string, body: Body, options: DecisionOptions = {}) =>
      this.#api.ask<v.Decided>(writeKeyed(`/orders/:id/${verb}`), { ids: [externalOrderId], body }, options);
  }
}
