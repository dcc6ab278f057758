import { IncomingMessage, ServerResponse } from 'node:http';
import { createConnection, Socket } from 'node:net';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { EVENT_TYPES, feedEventOf, type EventRow, type FeedEvent } from '../../../src/extensions/feed/event.ts';
import { eventSchema, feedEvent } from '../../../src/extensions/feed/schema.ts';
import { EventStreams, MOST_STREAMS } from '../../../src/extensions/feed/stream.ts';
import { createPass } from '../../../src/orders/create.ts';
import { appendToChain } from '../../../src/store/tables/chain.ts';
import {
  failureIn,
  scriptedControlSocket,
  type ServedSocket,
  type SocketAnswer,
} from '../../support/control-socket.ts';
import { echo } from '../../support/scripted-exchange.ts';

const NEVER = new AbortController().signal;
const STREAM = { accept: 'text/event-stream' };

interface Page {
  readonly events: readonly FeedEvent[];
  readonly next: string;
  readonly head: string;
}

function valueIn<Value>({ status, text }: SocketAnswer): Value {
  const { value } = JSON.parse(text) as { value: Value };
  return status === 200 ? value : expect.fail(text);
}

/** A socket whose account has some events: two of each order. */
async function withEvents(...ids: readonly string[]) {
  const on = await scriptedControlSocket();
  on.exchange.answer = (request) => echo(request);
  await send(on, ...ids);
  return on;
}

async function send({ program }: ServedSocket, ...ids: readonly string[]): Promise<void> {
  program.insert(...ids.map((external_order_id) => ({ external_order_id })));
  await createPass(program.app, NEVER);
}

async function page(on: ServedSocket, query: Record<string, string> = {}): Promise<Page> {
  return valueIn<Page>(await on.ask('GET', `/events?${new URLSearchParams(query).toString()}`));
}

/** A connection that asks for a stream and reads only what `read` asks for. */
async function stream({ socketPath }: ServedSocket, query = '', header = ''): Promise<Socket> {
  const socket = createConnection(socketPath);
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(`GET /events?${query} HTTP/1.1\r\nhost: x\r\naccept: text/event-stream\r\n${header}\r\n`);
  return socket;
}

/** Reads a stream until it has that many events. */
async function eventsOf(socket: Socket, count: number): Promise<readonly { id: string; event: FeedEvent }[]> {
  let text = '';
  for await (const chunk of socket) {
    text += String(chunk);
    const frames = [...text.matchAll(/id: (\S+)\nevent: (\S+)\ndata: (.+)\n\n/g)];
    if (frames.length < count) continue;
    return frames.map(([, id = '', type, data = '']) => {
      const event = JSON.parse(data) as FeedEvent;
      expect(event.type).toBe(type);
      return { id, event };
    });
  }
  return expect.fail(`the stream ended: ${text}`);
}

describe('GET /events', () => {
  it('has the next events of an account, whoever drives it, and the place to read on', async () => {
    const on = await withEvents('a', 'b');
    const all = await page(on);
    expect(all.next).toBe(all.head);
    expect(all.events.filter(({ data }) => 'externalOrderId' in data && data.externalOrderId === 'b')).toMatchObject([
      { type: 'order.state_changed', data: { newValue: 'sending' } },
      { type: 'order.state_changed', data: { newValue: 'accepted' } },
    ]);
    expect(all.events).toHaveLength(4);
    const first = await page(on, { limit: '1' });
    expect(first.events).toEqual(all.events.slice(0, 1));
    expect((await page(on, { after: first.next })).events).toEqual(all.events.slice(1));
    expect(await page(on, { account: 'nobody-drives-it' })).toEqual({ events: [], next: '0', head: '0' });
  });

  it('has the events of an order and of several types', async () => {
    const id = `<script>"'&%`;
    const on = await withEvents('a', id);
    const ofOrder = await page(on, { order: id });
    expect(ofOrder.events.map(({ data }) => data)).toMatchObject([{ externalOrderId: id }, { externalOrderId: id }]);
    const types = 'type=order.needs_attention&type=order.state_changed';
    expect(valueIn<Page>(await on.ask('GET', `/events?${types}`)).events).toHaveLength(4);
    expect((await page(on, { type: 'order.needs_attention' })).events).toEqual([]);
  });

  it.each([
    ['after=99', 409, 'cursor-ahead'],
    [`after=1.${'0'.repeat(16)}`, 409, 'cursor-of-another'],
    ['after=x', 400, 'cursor-unreadable'],
    ['type=order.other', 400, null],
    ['limit=0', 400, null],
    ['limit=1001', 400, null],
  ])('refuses %s, as a page and as a stream', async (query, status, reason) => {
    const on = await withEvents('a');
    for (const headers of [{}, STREAM]) {
      const answer = await on.ask('GET', `/events?${query}`, undefined, { headers });
      expect([answer.status, failureIn(answer)]).toMatchObject([status, { kind: 'invalid', reason }]);
    }
  });

  it('shows no payment token', async () => {
    const on = await scriptedControlSocket();
    on.exchange.answer = (request) => echo(request);
    on.program.insert({ external_order_id: 'a', asset: '12345678901234567.123456789' });
    on.program.merchant.prepare(`update merchant_orders set payment_token = 'canary'`).run();
    await createPass(on.program.app, NEVER);
    const order = await on.ask('GET', '/orders/a');
    expect(valueIn(order)).toMatchObject({ order: { asset: '12345678901234567.123456789', state: 'accepted' } });
    expect(order.text + (await on.ask('GET', '/events')).text).not.toContain('canary');
  });
});

describe('GET /orders/{id}', () => {
  it('has the row, the newest events and the findings, and says that there are more', async () => {
    const on = await withEvents('a/b');
    const { store } = on.program.app;
    const { events } = await page(on);
    const shown = valueIn<{ events: unknown; hasMoreEvents: boolean; findings: unknown }>(
      await on.ask('GET', '/orders/a%2Fb'),
    );
    expect(shown).toMatchObject({
      order: { external_order_id: 'a/b', state: 'accepted', asset: '1.5' },
      hasMoreEvents: false,
    });
    expect(shown.events).toEqual(events);
    const one = { account: 'default', type: 'order', subject: 'a/b', field: 'record.fee', old_value: null } as const;
    const rest = { looked_up_before: null, exchange_time: null, source: 'lookup', reason: null, actor: null };
    const more = Array.from({ length: 199 }, (_, index) => ({
      ...one,
      ...rest,
      new_value: String(index),
      observed_at: '2026-01-05T12:00:00.000Z',
    }));
    await store.writer.write((tx) => appendToChain(tx, 'default', more));
    const newest = valueIn<{ events: FeedEvent[]; hasMoreEvents: boolean }>(await on.ask('GET', '/orders/a%2Fb'));
    expect([newest.events.length, newest.hasMoreEvents]).toEqual([200, true]);
    expect(newest.events.at(-1)?.data).toMatchObject({ newValue: '198' });
  });

  it.each(['other', "'%3Cscript%3E", 'a'.repeat(7_000)])('answers 404 for an order that is not there', async (id) => {
    const on = await withEvents('a');
    const answer = await on.ask('GET', `/orders/${id}`);
    expect([answer.status, failureIn(answer)]).toMatchObject([404, { kind: 'invalid', reason: 'not-found' }]);
  });
});

describe('a stream of events', () => {
  it('has old and new events, each once, also for a reader who comes back', async () => {
    const on = await withEvents('a');
    const first = await stream(on);
    const [before = expect.fail()] = await eventsOf(first, 1);
    first.destroy();
    const again = await stream(on, 'after=0', `last-event-id: ${before.id}\r\n`);
    const reading = eventsOf(again, 3);
    await send(on, 'b');
    const { events } = await page(on);
    expect([before, ...(await reading)].map(({ event }) => event)).toEqual(events);
  });

  it('sees by itself what another process has written', async () => {
    const on = await withEvents('a');
    const { head } = await page(on);
    const reading = eventsOf(await stream(on, `after=${head}`), 1);
    const other = await on.program.database.open();
    await other.writer.write((tx) =>
      appendToChain(tx, 'default', [
        {
          account: 'default',
          type: 'order',
          subject: 'a',
          field: 'record.fee',
          old_value: null,
          new_value: '0.10',
          observed_at: '2026-01-05T12:00:00.000Z',
          looked_up_before: null,
          exchange_time: null,
          source: 'lookup',
          reason: null,
          actor: null,
        },
      ]),
    );
    let isRead = false;
    void reading.finally(() => (isRead = true));
    while (!isRead) {
      on.program.clock.advance(1_000);
      await on.program.clock.turn();
    }
    expect((await reading).map(({ event }) => event.data)).toMatchObject([{ newValue: '0.10' }]);
  });

  it('says something now and then, with the cursor of a reader whose events are rare', async () => {
    const on = await withEvents('a');
    const socket = await stream(on, 'type=order.needs_attention');
    const { head } = await page(on);
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    while (!text.includes(`:\nid: ${head}\n\n`)) {
      on.program.clock.advance(15_000);
      await on.program.clock.turn();
    }
    expect(text).not.toContain('event:');
  });

  it('ends at a stop, which it does not hold up', async () => {
    const on = await withEvents('a');
    const socket = await stream(on);
    await eventsOf(socket, 2).catch(() => undefined);
    const second = await stream(on);
    const ended = once(second.resume(), 'close');
    on.stopping.abort();
    await on.control.close();
    expect(await ended).toHaveLength(1);
  });

  it('of a reader who went away while its start was read takes no place of another', async () => {
    const on = await withEvents('a');
    const streams = new EventStreams(on.program.app, on.stopping.signal);
    const socket = new Socket();
    const response = new ServerResponse(new IncomingMessage(socket));
    response.assignSocket(socket);
    const gone = once(response, 'close');
    socket.destroy();
    await gone;
    const start = { id: 0, hash: '' };
    for (let index = 0; index < MOST_STREAMS; index += 1) streams.serve(response, { account: 'default' }, start);
    expect(streams.isFull).toBe(false);
  });

  it('of a thousand readers who read nothing costs little memory, and none of them is served for long', async () => {
    const on = await withEvents('a');
    const value = 'x'.repeat(1_000);
    const one = { account: 'default', type: 'order', subject: 'a', field: 'record.fee', old_value: value } as const;
    const rest = { looked_up_before: null, exchange_time: null, source: 'lookup', reason: value, actor: null };
    const observed_at = '2026-01-05T12:00:00.000Z';
    await on.program.app.store.writer.write((tx) =>
      appendToChain(
        tx,
        'default',
        Array.from({ length: 500 }, () => ({ ...one, ...rest, new_value: value, observed_at })),
      ),
    );
    const written = vi.spyOn(ServerResponse.prototype, 'writeHead');
    const sockets = [];
    for (let index = 0; index < 1_000; index += 1) {
      const socket = await stream(on);
      await once(socket, 'readable');
      sockets.push(socket);
    }
    const heads = sockets.map((socket) => String(socket.read(12)));
    expect(heads.filter((head) => head.endsWith('200'))).toHaveLength(MOST_STREAMS);
    expect(heads.filter((head) => head.endsWith('503'))).toHaveLength(1_000 - MOST_STREAMS);
    // A megabyte and a half of events was there for each of them.
    const streams = (written.mock.contexts as ServerResponse[]).filter(({ statusCode }) => statusCode === 200);
    expect(streams).toHaveLength(MOST_STREAMS);
    const buffered = streams.map(({ writableLength }) => writableLength);
    expect(Math.min(...buffered)).toBeGreaterThan(0);
    expect(Math.max(...buffered)).toBeLessThan(100_000);
    expect(streams.some(({ destroyed }) => destroyed)).toBe(false);
    while (!streams.every(({ destroyed }) => destroyed)) {
      on.program.clock.advance(1_000);
      await on.program.clock.turn();
    }
    const answer = await stream(on);
    expect((await eventsOf(answer, 1)).length).toBeGreaterThan(0);
  });
});

describe('an event', () => {
  const nothing = { old_value: null, new_value: null, exchange_time: null, reason: null, actor: null };
  const row = { id: 7, account: 'default', subject: 'a', observed_at: '2026-01-05T12:00:00.000Z', ...nothing };
  const hash = '0123456789abcdef'.repeat(4);
  const CASES: readonly (readonly [FeedEvent['type'], Pick<EventRow, 'type' | 'field'> & Partial<EventRow>])[] = [
    ['order.state_changed', { type: 'order', field: 'state', new_value: 'held' }],
    ['order.status_changed', { type: 'order', field: 'order.status' }],
    ['order.status_changed', { type: 'order', field: 'cryptoTransaction.status' }],
    ['order.field_changed', { type: 'order', field: 'record.fee', new_value: '12345678901234567.10' }],
    ['order.needs_attention', { type: 'order.needs_attention', field: 'state' }],
    ['finding.opened', { type: 'finding.opened', field: 'AMOUNT_MISMATCH' }],
    ['finding.opened', { type: 'finding.opened', field: 'OF_ANOTHER_VERSION' }],
    ['finding.resolved', { type: 'finding.resolved', field: 'AMOUNT_MISMATCH' }],
    ['finding.acknowledged', { type: 'finding.acknowledged', field: 'AMOUNT_MISMATCH', actor: 'ada' }],
    ['link.status_changed', { type: 'link', field: 'status', new_value: 'VERIFIED' }],
    ['photos.received', { type: 'photos', field: 'MAIN', old_value: 'request', new_value: 'delivery' }],
    ['account.out_of_reach', { type: 'account', field: 'exchange', new_value: 'out of reach' }],
    ['account.back', { type: 'account', field: 'exchange', old_value: 'out of reach' }],
    ['account.key_refused', { type: 'account', field: 'hold', new_value: 'key-refused' }],
    ['account.paused', { type: 'account', field: 'hold', new_value: 'paused' }],
    ['account.resumed', { type: 'account', field: 'hold', old_value: 'paused' }],
    ['account.restored', { type: 'account', field: 'restore' }],
    ['account.unreadable', { type: 'account', field: 'answers', new_value: 'cannot-be-read' }],
    ['account.readable', { type: 'account', field: 'answers' }],
    ['account.stopped', { type: 'account', field: 'stopped', new_value: 'older-state' }],
  ];

  it.each(CASES)('has the type %s and the shape of it', (type, changes) => {
    const event = feedEventOf({ ...row, source: 'lookup', hash, ...changes });
    expect(event.type).toBe(type);
    expect(feedEvent.parse(event)).toEqual(event);
    expect(feedEvent.safeParse({ ...event, type: 'order.other' }).success).toBe(false);
  });

  it('is of each type here', () => {
    expect(new Set(CASES.map(([type]) => type))).toEqual(new Set(EVENT_TYPES));
  });

  it('is described by docs/events.schema.json: order-sync events --schema writes it', () => {
    const written = readFileSync(new URL('../../../docs/events.schema.json', import.meta.url), 'utf8');
    expect(JSON.parse(written)).toEqual(eventSchema());
  });
});
