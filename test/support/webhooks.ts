import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { onTestFinished } from 'vitest';
import type { WebhookEndpoint } from '../../src/extensions/webhooks/settings.ts';
import type { DeliveryStatus } from '../../src/extensions/webhooks/delivery.ts';
import type { FeedEvent } from '../../src/extensions/feed/event.ts';
import { LAST_ANSWERS_MS, Webhooks, type WebhooksDeps } from '../../src/extensions/webhooks/webhooks.ts';
import { nextGeneration } from '../../src/store/tables/accounts.ts';
import { insertHappenings } from '../../src/store/tables/events.ts';
import type { AccountLease, Store } from '../../src/store/port.ts';
import { capturedLog, type CapturedLog } from './captured-log.ts';
import { newTestDatabase } from './database.ts';
import { testClock, type TestClock } from './test-clock.ts';
import { withWebhooks } from './webhook-tables.ts';

/** Secrets of receivers. */
export const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
export const OLD_SECRET = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;

/** An event as it came, and what was answered. */
export interface Delivery {
  readonly event: FeedEvent;
  readonly headers: IncomingHttpHeaders;
  readonly status: number | undefined;
}

/** A status, or what answers by itself. */
export type ReceiverAnswer = (event: FeedEvent) => number | ((response: ServerResponse) => void);

/** A shop that receives webhooks on loopback. It fails the request of a message that is not signed with its secret. */
export interface Receiver {
  readonly url: string;
  readonly deliveries: readonly Delivery[];
  /** The events that it has taken, in their order. */
  readonly taken: readonly FeedEvent[];
  answer: ReceiverAnswer;
  secret: string;
  /** Resolves when this many deliveries have come. */
  came(count: number): Promise<void>;
  close(): Promise<void>;
  /** Listens again on the same port. */
  open(): Promise<void>;
}

/** Starts a receiver, which is gone when the test is finished. */
export async function webhookReceiver(answer: ReceiverAnswer = () => 204): Promise<Receiver> {
  const deliveries: Delivery[] = [];
  let waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { headers } = request;
    const body = Buffer.concat(chunks).toString();
    // As `verify` does, by whatever time the test's clock shows.
    const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
    const expected = new Webhook(receiver.secret).sign(String(id), new Date(Number(timestamp) * 1_000), body);
    if (!String(signatures).split(' ').includes(expected)) return void response.writeHead(401).end();
    const event = JSON.parse(body) as FeedEvent;
    const given = receiver.answer(event);
    deliveries.push({ event, headers, status: typeof given === 'number' ? given : undefined });
    if (typeof given === 'number') response.writeHead(given).end();
    else given(response);
    for (const { resolve } of waiting.filter(({ count }) => deliveries.length >= count)) resolve();
    waiting = waiting.filter(({ count }) => deliveries.length < count);
  };
  let server: Server | undefined;
  let port = 0;
  const receiver: Receiver = {
    get url() {
      return `http://127.0.0.1:${port}/events`;
    },
    deliveries,
    get taken() {
      return deliveries.filter(({ status }) => status === 204).map(({ event }) => event);
    },
    answer,
    secret: SECRET,
    came: (count) =>
      new Promise((resolve) => {
        if (deliveries.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
    async close() {
      const closing = server;
      server = undefined;
      if (closing === undefined) return;
      closing.close();
      closing.closeAllConnections();
      await once(closing, 'close');
    },
    async open() {
      server = createServer((request, response) => void receive(request, response)).listen(port, '127.0.0.1');
      await once(server, 'listening');
      ({ port } = server.address() as AddressInfo);
    },
  };
  await receiver.open();
  onTestFinished(() => receiver.close());
  return receiver;
}

/** An endpoint at a receiver on loopback. */
export function endpointAt({ url }: Pick<Receiver, 'url'>, settings: Partial<WebhookEndpoint> = {}): WebhookEndpoint {
  return { name: 'shop', url, secrets: [SECRET], events: [], allowPrivate: true, ...settings };
}

/** A process that sends webhooks, without orders: the test adds events and moves the clock. */
export interface Delivering {
  readonly clock: TestClock;
  readonly log: CapturedLog;
  readonly store: Store;
  readonly webhooks: Webhooks;
  /** Adds an event of an order, with this value. */
  add(subject: string, value: string, account?: string): Promise<void>;
  /** Lets a time go by, a second at a time if it is short and otherwise in 500 steps. */
  pass(ms: number): Promise<void>;
  stop(): Promise<void>;
  /** Begins anew, with other endpoints if they are given. */
  start(endpoints?: readonly WebhookEndpoint[]): Promise<void>;
}

interface DeliveringOptions extends Partial<WebhooksDeps> {
  readonly accounts?: readonly string[];
  /** Tells whether the process may take itself for their owner. */
  readonly isTrusted?: () => boolean;
}

/** Starts to send the events of accounts to endpoints, on a database of its own. */
export async function delivering(
  endpoints: readonly WebhookEndpoint[],
  { accounts = ['default'], isTrusted = () => true, ...deps }: DeliveringOptions = {},
): Promise<Delivering> {
  const clock = testClock(new Date());
  const log = capturedLog();
  const store = await (await newTestDatabase()).open({}, clock);
  const accountLeases = new Map<string, AccountLease>();
  for (const account of accounts) accountLeases.set(account, await leaseOf(store, { account, clock, isTrusted }));
  let stopping = new AbortController();
  let running = Promise.resolve();
  const start = async (others: readonly WebhookEndpoint[] = endpoints): Promise<Webhooks> => {
    stopping = new AbortController();
    const given = { endpoints: others, store, clock, log: log.logger, stop: stopping.signal, ...deps };
    const webhooks = new Webhooks(given);
    running = webhooks.run();
    for (const accountLease of accountLeases.values()) webhooks.take(accountLease);
    await webhooks.begin();
    return webhooks;
  };
  const program = {
    clock,
    log,
    store,
    webhooks: await start(),
    async add(subject: string, value: string, account = 'default') {
      const accountLease = accountLeases.get(account);
      const event = { account, type: 'order.needs_attention', subject, field: 'state', source: 'lookup' } as const;
      await store
        .forAccount(account, accountLease)
        .writer.write((tx) => insertHappenings(tx, [{ ...event, new_value: value }], clock.now()));
    },
    async pass(ms: number) {
      const step = Math.max(1_000, ms / 500);
      for (let passed = 0; passed < ms; passed += step) {
        clock.advance(step);
        await program.webhooks.eachSecond();
        await program.webhooks.idle();
      }
    },
    async stop() {
      stopping.abort();
      await clock.turn();
      // The clock ends a request that does not end.
      clock.advance(LAST_ANSWERS_MS);
      await running;
    },
    async start(others?: readonly WebhookEndpoint[]) {
      program.webhooks = await start(others);
    },
  };
  onTestFinished(() => program.stop());
  return program;
}

async function leaseOf(
  store: Store,
  { account, clock, isTrusted }: { account: string; clock: TestClock; isTrusted: () => boolean },
): Promise<AccountLease> {
  const generation = await store.forAccount(account).writer.write((tx) => nextGeneration(tx, account));
  return {
    account,
    generation,
    isTrusted,
    now: () => clock.now(),
    lastOwnerUntil: undefined,
    differsIn: [],
    ending: new AbortController().signal,
    release: async () => {},
  };
}

/** `order value` of an event that `add` has added. */
export const nameOf = ({ data }: FeedEvent): string => {
  if (!('externalOrderId' in data) || !('newValue' in data)) return '';
  return `${data.externalOrderId} ${data.newValue}`;
};
/** The same of several. */
export const names = (events: readonly FeedEvent[]) => events.map(nameOf);

/** The rows of the endpoints with a status, by what they are about. */
export async function rowsOf({ store }: Delivering, status: DeliveryStatus) {
  return await withWebhooks(store.db)
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('status', '=', status)
    .orderBy('subject')
    .orderBy('event_id')
    .execute();
}
