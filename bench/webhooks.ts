import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../src/base/clock.ts';
import type { FeedEvent } from '../src/extensions/feed/event.ts';
import { Webhooks } from '../src/extensions/webhooks/webhooks.ts';
import { createLog } from '../src/base/log.ts';
import { insertHappenings } from '../src/store/tables/events.ts';
import { openAsOwner } from '../src/store/open.ts';
import { middle, type Figure } from './figures.ts';
import type { Bench } from './settings.ts';

const TARGET_MS = 50;
const TARGET_RATIO = 1.2;
const EVENTS_A_SECOND = 200;
const EVENTS_A_ROW = 50;
const ROUNDS = 3;
const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const ACCOUNT = 'default';
/** Events that wait for their receiver at the end of a round get so long. */
const LAST_MS = 2_000;

/** From commit to receipt, alone and beside a receiver that never answers. Sender and receiver share a process here. */
export async function measureWebhooks({ path, sizes, say }: Bench): Promise<Figure[]> {
  const count = sizes.rows * EVENTS_A_ROW;
  const received = new Map<string, number>();
  await using well = await serve((event) => received.set(event, performance.now()));
  await using hanging = await serve();
  const endpoints = [endpointAt('well', well.url)];
  const both = [...endpoints, endpointAt('hanging', hanging.url)];
  say(
    `webhooks: ${count} events at ${EVENTS_A_SECOND} a second, alone and beside a receiver that never answers, by turns`,
  );
  const [alones, besides]: [number[], number[]] = [[], []];
  let grownMib = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    alones.push(await measureRound(path, endpoints, count, received));
    const before = process.memoryUsage().rss;
    besides.push(await measureRound(path, both, count, received));
    grownMib = Math.max(grownMib, (process.memoryUsage().rss - before) / 2 ** 20);
  }
  const [alone, beside] = [middle(alones), middle(besides)];
  const ratio = beside.value / alone.value;
  return [
    { name: 'event committed to webhook received, median', unit: 'ms', ...alone, target: { atMost: TARGET_MS } },
    { name: 'the same beside a receiver that hangs', unit: 'ms', ...beside },
    { name: 'the second beside the first', unit: 'x', value: ratio, target: { atMost: TARGET_RATIO } },
    { name: 'memory that it took more, at the most', unit: 'MiB', value: grownMib },
  ];
}

function endpointAt(name: string, url: string) {
  return { name, url, secrets: [SECRET], events: [], allowPrivate: true };
}

/** Without a listener it never answers. */
async function serve(onEvent?: (name: string) => void): Promise<AsyncDisposable & { readonly url: string }> {
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (onEvent === undefined) return;
      const { data } = JSON.parse(Buffer.concat(chunks).toString()) as FeedEvent;
      onEvent('externalOrderId' in data ? data.externalOrderId : '');
      response.writeHead(204).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function measureRound(
  path: string,
  endpoints: readonly ReturnType<typeof endpointAt>[],
  count: number,
  received: Map<string, number>,
): Promise<number> {
  received.clear();
  const clock = systemClock();
  await using owned = await openAsOwner({ kind: 'sqlite', path, address: path }, clock, {});
  const { store, ownership } = owned;
  const stopping = new AbortController();
  const log = createLog('silent');
  const webhooks = new Webhooks({ endpoints, store, clock, log, stop: stopping.signal });
  const running = webhooks.run();
  for (const accountLease of await ownership.take([ACCOUNT], 0)) webhooks.take(accountLease);
  await webhooks.begin();
  const committed = new Map<string, number>();
  const start = performance.now();
  for (let number = 0; number < count; number += 1) {
    const subject = `order-${number}`;
    const event = {
      account: ACCOUNT,
      type: 'order.needs_attention',
      subject,
      field: 'state',
      source: 'lookup',
    } as const;
    void store.writer
      .write((tx) => insertHappenings(tx, [event], clock.now()))
      .then(() => committed.set(subject, performance.now()));
    const waitMs = start + ((number + 1) * 1_000) / EVENTS_A_SECOND - performance.now();
    if (waitMs > 0) await delay(waitMs);
  }
  for (let waited = 0; received.size < count && waited < LAST_MS; waited += 10) await delay(10);
  stopping.abort();
  await running;
  if (received.size < count) throw new Error(`${received.size} of ${count} events were received`);
  return middle([...committed].map(([subject, at]) => (received.get(subject) ?? Number.NaN) - at)).value;
}
