import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, describe, expect, expectTypeOf, it, vi } from 'vitest';
import {
  OrderSync,
  type EventFilter,
  type FindingChange,
  type OrderChange,
  type OrderSyncEvent,
} from '../../../src/extensions/shop/client.ts';
import { controlSocket } from '../../support/control-socket.ts';
import type { Merchant } from '../../support/merchant.ts';
import { problem, scriptedFetch } from '../../support/scripted-fetch.ts';

const hashOf = (id: number) => createHash('sha256').update(String(id)).digest('hex');
const eventOf = (cursor: number) => ({ cursor, id: `evt_${hashOf(cursor).slice(0, 32)}`, type: 'order.state_changed' });
const cursorOf = (id: number) => (id === 0 ? '0' : `${id}.${hashOf(id).slice(0, 16)}`);
const idsOf = (events: readonly OrderSyncEvent[]) => events.map(({ cursor }) => Number.parseInt(cursor, 10));

/** Writes events of an order past the program, each with a hash of its own. */
function writeEvents(merchant: Merchant, first: number, last: number, type = 'order'): void {
  const insert =
    merchant.prepare(`insert into events (id, account, type, subject, field, new_value, observed_at, source,
    previous_hash, hash) values (?, 'default', ?, 'a', 'state', 'open', '2026-01-05T12:00:00.000Z', 'lookup', '', ?)`);
  for (let id = first; id <= last; id += 1) insert.run(id, type, hashOf(id));
  merchant
    .prepare(`insert into event_heads (account, id, hash) values ('default', ?, ?)
      on conflict (account) do update set id = excluded.id, hash = excluded.hash`)
    .run(last, hashOf(last));
}

/** Takes this many events. */
async function take(events: AsyncIterable<OrderSyncEvent>, count: number): Promise<OrderSyncEvent[]> {
  const taken: OrderSyncEvent[] = [];
  for await (const event of events) if (taken.push(event) === count) break;
  return taken;
}

afterEach(() => vi.useRealTimers());

describe('the events of a real feed', () => {
  it('are read in pages and then as they happen, each once and in order', async () => {
    const { program, socketPath: socket } = await controlSocket();
    const client = new OrderSync({ socket });
    writeEvents(program.merchant, 1, 2_500);
    const seen: OrderSyncEvent[] = [];
    for await (const event of client.events.follow()) {
      seen.push(event);
      if (seen.length === 2_500) {
        writeEvents(program.merchant, 2_501, 2_503);
        program.app.store.newEvents.tell('default');
      }
      if (seen.length === 2_503) break;
    }
    expect(idsOf(seen)).toEqual(Array.from({ length: 2_503 }, (_, index) => index + 1));
    // Each cursor is one of the feed.
    const after = seen[1_700]?.cursor ?? '';
    expect(await take(client.events.follow({ after }), 802)).toEqual(seen.slice(1_701));
    expect(seen.at(-1)?.cursor).toBe((await client.events.list({ after: 'head' })).next);
  });

  it('are those of the types and of the order that were asked for', async () => {
    const { program, socketPath: socket } = await controlSocket();
    const client = new OrderSync({ socket });
    writeEvents(program.merchant, 1, 5);
    writeEvents(program.merchant, 6, 8, 'order.needs_attention');
    const [first] = await take(client.events.follow({ types: ['order.needs_attention', 'photos.received'] }), 1);
    expect(first).toMatchObject({ cursor: cursorOf(6), type: 'order.needs_attention' });
    expect((await client.events.list({ order: 'another' })).events).toEqual([]);
    expect(idsOf((await client.events.list({ order: 'a', limit: 2 })).events)).toEqual([1, 2]);
  });

  it.each([
    ['99', 'cursor-ahead', 409],
    ['2.0000000000000000', 'cursor-of-another', 409],
    ['other', 'cursor-unreadable', 400],
  ])('are refused after a cursor of another feed: %s', async (after, reason, status) => {
    const { program, socketPath: socket } = await controlSocket();
    writeEvents(program.merchant, 1, 5);
    const following = take(new OrderSync({ socket }).events.follow({ after }), 1);
    await expect(following).rejects.toMatchObject({ kind: 'invalid', reason, status });
  });
});

/** The fate of a request of a feed that breaks. */
type Fate = 'good' | 'refused' | 'not now' | { readonly cutAfter: number };

/** Serves a feed that grows by one event a request and that breaks as the fates say, and is good at last. */
function brokenFeed(fates: readonly Fate[], length: number) {
  let head = length - fates.length;
  const asked: { readonly after: string; readonly isStream: boolean }[] = [];
  const encoder = new TextEncoder();
  const fetching = async (url: string, { headers }: { readonly headers: Record<string, string> }) => {
    const query = new URL(url).searchParams;
    const after = query.get('after') === 'head' ? head : Number.parseInt(query.get('after') ?? '', 10);
    const isStream = headers['accept'] === 'text/event-stream';
    const fate = fates[asked.length] ?? 'good';
    asked.push({ after: query.get('after') ?? '', isStream });
    const events = Array.from({ length: head - after }, (_, index) => eventOf(after + index + 1));
    if (asked.length <= fates.length) head += 1;
    if (fate === 'refused') throw Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } });
    if (fate === 'not now') return Response.json(problem(503, 'not-sent').body, { status: 503 });
    const page = events.slice(0, Number(query.get('limit') ?? 3));
    const next = page.at(-1)?.cursor ?? after;
    const value = { events: page, next: cursorOf(next), head: cursorOf(after + events.length) };
    const text = isStream
      ? `:\nid: ${cursorOf(after)}\n\n${events.map((event) => `id: ${cursorOf(event.cursor)}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')}`
      : JSON.stringify({ ok: true, value });
    const bytes = encoder.encode(text);
    if (fate === 'good' && !isStream) return new Response(bytes);
    const end = fate === 'good' ? bytes.length : Math.min(bytes.length, fate.cutAfter);
    let at = 0;
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      if (at >= end) return controller.error(new TypeError('terminated'));
      controller.enqueue(bytes.slice(at, Math.min(end, at + 100)));
      at += 100;
    };
    return new Response(new ReadableStream({ pull }));
  };
  return { fetch: fetching as unknown as typeof fetch, asked };
}

describe('the events of a feed whose connections break', () => {
  const fate = fc.oneof(
    fc.constantFrom<Fate>('good', 'refused', 'not now'),
    fc.record({ cutAfter: fc.nat({ max: 1_500 }) }),
  );

  it('come each once, in order, wherever a request breaks', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }).setTimerTickMode('nextTimerAsync');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fate, { maxLength: 8 }),
        fc.nat({ max: 8 }),
        fc.boolean(),
        async (fates, more, isNew) => {
          const length = fates.length + more;
          const first = isNew && fates[0] === 'good' ? more + 1 : 1;
          fc.pre(length >= first && !(isNew && first === 1));
          const { fetch } = brokenFeed(fates, length);
          const client = new OrderSync({ url: 'http://sync.example', fetch });
          const seen = await take(client.events.follow({ after: isNew ? 'head' : '0' }), length - first + 1);
          expect(idsOf(seen)).toEqual(Array.from({ length: length - first + 1 }, (_, index) => first + index));
        },
      ),
      { numRuns: 100 },
    );
  });

  it('are asked for page by page, the next one while this one is handled', async () => {
    const { fetch, asked } = brokenFeed([], 2_500);
    for await (const { cursor } of new OrderSync({ url: 'http://sync.example', fetch }).events.follow()) {
      if (cursor === cursorOf(1)) expect(asked.map(({ after }) => after)).toEqual(['0', cursorOf(1_000)]);
      if (cursor === cursorOf(2_500)) break;
    }
    expect(asked.map(({ isStream }) => isStream)).toEqual([false, false, false]);
  });

  it('are asked for again after a silent stream', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    const { fetch, asked } = scriptedFetch(({ headers, signal }) =>
      headers['accept'] === 'application/json'
        ? { body: { ok: true, value: { events: [], next: '7.aa', head: '7.aa' } } }
        : new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason as Error));
          }),
    );
    const stop = new AbortController();
    const events = new OrderSync({ url: 'http://sync.example', fetch }).events.follow({ signal: stop.signal });
    const following = events.next();
    await vi.advanceTimersByTimeAsync(46_000);
    expect(asked.map(({ url }) => new URL(url).searchParams.get('after'))).toEqual(['0', '7.aa', '7.aa', '7.aa']);
    stop.abort();
    expect(await following).toEqual({ done: true, value: undefined });
    expect(asked.at(-1)?.signal.aborted).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [409, 'invalid'],
  ])('are not asked for again after %d', async (status, kind) => {
    const { fetch, asked } = scriptedFetch(problem(status, kind));
    const following = take(new OrderSync({ url: 'http://sync.example', fetch }).events.follow(), 1);
    await expect(following).rejects.toMatchObject({ kind, status });
    expect(asked).toHaveLength(1);
  });

  it('are asked for later and later while no process answers', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    const { fetch, asked } = scriptedFetch(problem(500, 'failed'));
    const stop = new AbortController();
    const following = take(new OrderSync({ url: 'http://sync.example', fetch }).events.follow(stop), 1);
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    // At most 15 s and at least half of that, after a few at the beginning.
    expect(asked.length).toBeGreaterThan((10 * 60) / 15);
    expect(asked.length).toBeLessThan((10 * 60) / 7.5 + 10);
    stop.abort();
    expect(await following).toEqual([]);
  });

  it('end at once if they are not wanted any more', async () => {
    const stop = new AbortController();
    const seen: string[] = [];
    const many = brokenFeed([], 10);
    const following = new OrderSync({ url: 'http://sync.example', fetch: many.fetch }).events.follow(stop);
    for await (const { cursor } of following) if (seen.push(cursor) === 3) stop.abort();
    expect(seen).toHaveLength(3);
    const { fetch, asked } = scriptedFetch({});
    const events = new OrderSync({ url: 'http://sync.example', fetch }).events;
    expect(await take(events.follow({ signal: AbortSignal.abort() }), 1)).toEqual([]);
    expect(asked).toEqual([]);
  });
});

describe('the types of events', () => {
  it('narrow by their type, and by the types that were asked for', () => {
    const look = (event: OrderSyncEvent) => {
      if (event.type === 'finding.opened') expectTypeOf(event.data).toEqualTypeOf<FindingChange>();
      else if (event.type === 'order.state_changed') expectTypeOf(event.data).toEqualTypeOf<OrderChange>();
    };
    const followed = (filter: EventFilter<'finding.opened'>) => new OrderSync({ socket: '' }).events.follow(filter);
    type Followed = Awaited<ReturnType<ReturnType<typeof followed>['next']>>;
    expectTypeOf<Exclude<Followed['value'], void>['data']>().toEqualTypeOf<FindingChange>();
    expect(look).toBeTypeOf('function');
  });
});
