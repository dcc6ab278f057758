import { afterEach, describe, expect, expectTypeOf, it, vi } from 'vitest';
import {
  OrderSync,
  OrderSyncError,
  type InvalidReason,
  type RefusalReason,
} from '../../../src/extensions/shop/client.ts';
import { TABLES } from '../../../src/extensions/shop/schema.ts';
import { controlSocket, scriptedControlSocket } from '../../support/control-socket.ts';
import { temporaryFolder } from '../../support/folders.ts';
import { problem, scriptedFetch, type Script } from '../../support/scripted-fetch.ts';

const URL_OF = 'http://sync.example:8443';
const ORDER = { external_order_id: 'shop-1001', asset: '0.25', from_currency: 'BTC', to_currency: 'EUR' };
const DIGITS = '12345678901234567.123456789';
const REFUSED = Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED', syscall: 'connect' } });
const BROKEN = Object.assign(new TypeError('fetch failed'), { cause: { code: 'UND_ERR_SOCKET' } });
/** Linux tells of a peer that does not answer any more in this way, long after the connection was made. */
const CUT = Object.assign(new TypeError('fetch failed'), { cause: { code: 'EHOSTUNREACH', syscall: 'read' } });
const NOT_NOW = { ...problem(503, 'not-sent'), headers: { 'retry-after': '0' } };

function clientOf(...script: Script[]) {
  const { fetch, asked } = scriptedFetch(...script);
  return { client: new OrderSync({ url: URL_OF, token: 'secret', fetch }), asked };
}

/** The error that a promise rejects with, as far as programs decide by it. */
async function errorOf(promise: Promise<unknown>) {
  const error: unknown = await promise.then(
    () => expect.fail('it succeeds'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof OrderSyncError)) throw error;
  const { kind, reason, status, code, retryAfterMs } = error;
  return { kind, reason, status, code, retryAfterMs };
}

const NOTHING = { reason: null, status: null, code: null, retryAfterMs: null };
afterEach(() => vi.useRealTimers());

describe('the client over a socket', () => {
  it('adds an order, which may be added again, and reads it', async () => {
    const { socketPath: socket } = await controlSocket();
    const client = new OrderSync({ socket });
    expect(await client.orders.add(ORDER)).toEqual({ external_order_id: 'shop-1001', state: 'pending' });
    expect(await client.orders.add(ORDER)).toMatchObject({ state: 'pending' });
    expect(await errorOf(client.orders.add({ ...ORDER, asset: '0.26' }))).toMatchObject({
      kind: 'invalid',
      status: 409,
    });
    const { order, findings } = await client.orders.get('shop-1001');
    expect([order.asset, order.revision, findings]).toEqual(['0.25', 0, []]);
    expect(Object.keys(order).toSorted()).toEqual(Object.keys(TABLES.merchant_orders).toSorted());
    expect(await errorOf(client.orders.get('another'))).toMatchObject({ kind: 'invalid', reason: 'not-found' });
  });

  it('runs a pass, and tells how order-sync is', async () => {
    const { socketPath: socket, program } = await controlSocket();
    const client = new OrderSync({ socket });
    program.insert({ external_order_id: 'a' });
    expect(await client.sync({ scope: 'due' })).toMatchObject({ end: 'done', summary: { accepted: 1 } });
    expect((await client.status()).overview.orders).toMatchObject({ accepted: 1 });
  });

  it.each(['a/b', 'a%00b', 'ä 🙂', '..a', 'a'.repeat(1_000)])('reaches the order %s', async (id) => {
    const { socketPath: socket } = await controlSocket();
    const client = new OrderSync({ socket });
    await client.orders.add({ ...ORDER, external_order_id: id });
    expect((await client.orders.get(id)).order.external_order_id).toBe(id);
  });

  it('has the amounts of the exchange as text, with every digit', async () => {
    const on = await scriptedControlSocket();
    const client = new OrderSync({ socket: on.socketPath });
    on.exchange.answer = () => ({ status: 200, body: `{"id":"p1","asset":${DIGITS},"limit":1E+400,"more":"1"}` });
    expect(await client.preOrders.get('p1')).toEqual({ id: 'p1', asset: DIGITS, limit: '1E+400', more: '1' });
  });

  it('finds no process if none listens', async () => {
    const client = new OrderSync({ socket: `${temporaryFolder()}/none.sock` });
    expect(await errorOf(client.clients.sdkToken('link-1'))).toEqual({ ...NOTHING, kind: 'unreachable' });
  });
});

describe('a pass', () => {
  it.each([
    ['{"type":"progress"}\n{"type":"error","message":"m"}\n', 'm'],
    ['{"type":"progress"}\n', 'the pass ended without a result'],
    ['', 'the pass ended without a result'],
  ])('that ends without a result is an error: %j', async (body, message) => {
    const { client } = clientOf({ body });
    await expect(client.sync()).rejects.toMatchObject({ kind: 'failed', message });
  });
});

describe('a request', () => {
  it('bears the token and the account, and follows no redirect', async () => {
    const { fetch, asked } = scriptedFetch({
      status: 302,
      headers: { location: 'http://elsewhere.example' },
      body: '',
    });
    const client = new OrderSync({ url: `${URL_OF}/proxy/`, token: 'secret', account: 'shop 1', fetch });
    expect(await errorOf(client.orders.lookUp('a&b'))).toMatchObject({ kind: 'unreadable', status: 302 });
    expect(asked).toMatchObject([
      {
        method: 'GET',
        url: `${URL_OF}/proxy/orders?account=shop%201&externalOrderId=a%26b`,
        headers: { authorization: 'Bearer secret' },
      },
    ]);
  });

  it.each(['', '.', '..', '\uD800'])('is not sent for an id that no address can bear: %j', async (id) => {
    const { client, asked } = clientOf();
    expect(await errorOf(client.orders.get(id))).toEqual({ ...NOTHING, kind: 'unusable' });
    expect(asked).toEqual([]);
  });

  it.each(['ftp://host', 'https://user:pass@host', 'https://host/?token=1', 'nothing'])(
    'cannot be sent to %s',
    (url) => {
      expect(() => new OrderSync({ url })).toThrow(TypeError);
    },
  );

  it('needs an address, all of them with TLS or none', () => {
    expect(() => new OrderSync({ urls: [] })).toThrow(TypeError);
    expect(() => new OrderSync({ urls: ['https://one', 'http://two'] })).toThrow(TypeError);
  });

  it('bears a token without the end of its line; an error does not name one that cannot be sent', async () => {
    const { fetch, asked } = scriptedFetch({});
    await new OrderSync({ url: URL_OF, token: 'secret\n', fetch }).status();
    expect(asked[0]?.headers).toMatchObject({ authorization: 'Bearer secret' });
    expect(() => new OrderSync({ url: URL_OF, token: 'canary\nX: y' })).toThrow(/^((?!canary)[^])*$/);
  });
});

describe('an answer that is no success', () => {
  it.each<[name: string, script: Script, expected: object]>([
    [
      'of the exchange',
      problem(400, 'refused', { reason: 'bad-request', code: '7' }),
      { kind: 'refused', reason: 'bad-request', status: 400, code: '7' },
    ],
    ['about the token', problem(401, 'unauthorized'), { kind: 'unauthorized', status: 401 }],
    ['of a proxy: 403', { status: 403, body: '<html>' }, { kind: 'forbidden', status: 403 }],
    ['of a proxy: 404', { status: 404, body: '<html>' }, { kind: 'unreadable', status: 404 }],
    ['of another kind', problem(400, 'toString'), { kind: 'unreadable', status: 400 }],
    [
      'with a date',
      { ...problem(429, 'limited'), headers: { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' } },
      { kind: 'limited', retryAfterMs: 0 },
    ],
    ['with null', { status: 500, body: 'null' }, { kind: 'unreadable', status: 500 }],
  ])('is an error: %s', async (_name, script, expected) => {
    const { client } = clientOf(script);
    expect(await errorOf(client.orders.get('a'))).toMatchObject(expected);
  });

  it.each<[name: string, script: Script]>([
    ['no answer', BROKEN],
    ['a connection that ends', CUT],
    ['one of a proxy that may have passed it on', { status: 502, body: '<html>' }],
    ['a success that cannot be read', { status: 200, body: '{"ok":' }],
    ['one that says so', problem(504, 'unknown')],
  ])('leaves open what became of a write, and of a write alone: %s', async (_name, script) => {
    const { client, asked } = clientOf(script);
    expect(await errorOf(client.orders.add(ORDER))).toMatchObject({ kind: 'unknown' });
    expect(asked).toHaveLength(1);
    const { kind } = await errorOf(client.orders.get('a'));
    expect(kind).toMatch(/^(?:no-answer|unreadable|unknown)$/);
  });
});

describe('a request that may be sent again', () => {
  it.each<[name: string, call: (client: OrderSync) => Promise<unknown>]>([
    ['a read', (client) => client.orders.get('a')],
    ['an order', (client) => client.orders.add(ORDER)],
    ['a decision', (client) => client.decisions.cancel('a', { reason: 'r' })],
    ['a link', (client) => client.clients.create({ email: '<EMAIL>' })],
  ])('is sent at most three times: %s', async (_name, call) => {
    const limited = { ...problem(429, 'limited'), headers: { 'retry-after': '0' } };
    for (const script of [NOT_NOW, limited, REFUSED, problem(421, 'not-owner')]) {
      const { client, asked } = clientOf(script);
      await errorOf(call(client));
      expect(asked).toHaveLength(3);
      expect(new Set(asked.map(({ body }) => body)).size).toBe(1);
      expect(new Set(asked.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    }
  });

  it.each<[name: string, call: (client: OrderSync) => Promise<unknown>]>([
    ['tokens', (client) => client.clients.sdkToken('a')],
    ['photos', (client) => client.clients.requestPhotos('a', { level: 'MAIN' })],
    ['an order that is taken over', (client) => client.orders.adopt(ORDER)],
  ])('is none of %s', async (_name, call) => {
    for (const script of [NOT_NOW, REFUSED]) {
      const { client, asked } = clientOf(script);
      await errorOf(call(client));
      expect(asked).toHaveLength(1);
    }
  });

  it('succeeds once it is answered', async () => {
    const { client, asked } = clientOf(NOT_NOW, REFUSED, { body: { ok: true, value: { state: 'pending' } } });
    expect(await client.orders.add(ORDER)).toEqual({ state: 'pending' });
    expect(asked).toHaveLength(3);
  });

  it('is not sent again without Retry-After, nor if that is too long', async () => {
    for (const headers of [{}, { 'retry-after': '3600' }]) {
      const { client, asked } = clientOf({ ...problem(503, 'not-sent'), headers });
      expect(await errorOf(client.orders.get('a'))).toMatchObject({ kind: 'not-sent' });
      expect(asked).toHaveLength(1);
    }
  });

  it('has the key that was given, or one of its own', async () => {
    const { client, asked } = clientOf({});
    await client.decisions.resume({ reason: 'r' }, { idempotencyKey: 'mine' });
    await client.decisions.resume({ reason: 'r' });
    await client.decisions.resume({ reason: 'r' });
    const keys = asked.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toBe('mine');
    expect(new Set(keys).size).toBe(3);
  });

  it('goes to the next address if no process listens, also if it must not be sent twice', async () => {
    const { fetch, asked } = scriptedFetch(REFUSED, {});
    await new OrderSync({ urls: ['http://one', 'http://two'], fetch }).orders.adopt(ORDER);
    expect(asked.map(({ url }) => new URL(url).host)).toEqual(['one', 'two']);
  });

  it('begins with the address that answered last', async () => {
    const { fetch, asked } = scriptedFetch(REFUSED, {});
    const client = new OrderSync({ urls: ['http://one', 'http://two'], fetch });
    await client.status();
    await client.status();
    expect(asked.map(({ url }) => new URL(url).host)).toEqual(['one', 'two', 'two']);
  });
});

describe('an account that another process drives', () => {
  const urls = ['https://one', 'https://two:8443/api'];
  const owned = (address?: string) => problem(421, 'not-owner', {}, address);

  it('is asked for there, with the token, also the next time', async () => {
    const { fetch, asked } = scriptedFetch(owned('https://two:8443/'), {});
    const client = new OrderSync({ urls, token: 'secret', fetch });
    await client.orders.add(ORDER);
    await client.orders.add(ORDER);
    const two = 'https://two:8443/api/orders?account=default';
    expect(asked.map(({ url }) => url)).toEqual(['https://one/orders?account=default', two, two]);
    expect(asked[1]).toMatchObject({ headers: { authorization: 'Bearer secret' }, body: JSON.stringify(ORDER) });
  });

  it.each([
    ['an address that is not in its list', 'https://evil'],
    ['another port', 'https://two'],
    ['no address', undefined],
    ['no address that can be read', 'two'],
    ['the address of the one that was asked', 'https://one'],
  ])('is asked for at each address of the list, and nowhere else, if the answer names %s', async (_name, address) => {
    const { fetch, asked } = scriptedFetch(owned(address), owned());
    const client = new OrderSync({ urls: [...urls, 'https://three', 'https://four'], token: 'secret', fetch });
    expect(await errorOf(client.orders.adopt(ORDER))).toMatchObject({ kind: 'not-owner', status: 421 });
    expect(asked.map(({ url }) => new URL(url).host)).toEqual(['one', 'two:8443', 'three', 'four']);
  });

  it('is asked for with TLS, whatever the address says', async () => {
    const { fetch, asked } = scriptedFetch(owned('http://two:8443'), {});
    await new OrderSync({ urls, token: 'secret', fetch }).orders.add(ORDER);
    expect(asked.map(({ url }) => new URL(url).origin)).toEqual(['https://one', 'https://two:8443']);
  });

  it('is asked for at two more addresses at most', async () => {
    const { fetch, asked } = scriptedFetch(owned('https://two:8443'), owned('https://one'), owned('https://two:8443'));
    const client = new OrderSync({ urls, fetch });
    expect(await errorOf(client.orders.adopt(ORDER))).toMatchObject({ kind: 'not-owner' });
    expect(asked).toHaveLength(3);
  });
});

describe('the time that a request takes', () => {
  const never: Script = ({ signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });

  it.each([
    [{ timeoutMs: 5_000 }, 5_000],
    [{}, 30_000],
  ])('is limited: %j', async (options, ms) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    const { client, asked } = clientOf(never);
    const failed = errorOf(client.orders.add(ORDER, options));
    const read = errorOf(client.orders.get('a', options));
    await vi.advanceTimersByTimeAsync(ms - 1);
    expect(asked.map(({ signal }) => signal.aborted)).toEqual([false, false]);
    await vi.advanceTimersByTimeAsync(1);
    expect([await failed, await read]).toMatchObject([{ kind: 'unknown' }, { kind: 'no-answer' }]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('may be longer than a timer can be', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    const { client, asked } = clientOf(never);
    const stop = new AbortController();
    const asking = client.orders.get('a', { timeoutMs: Infinity, signal: stop.signal });
    asking.catch(() => undefined);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(asked.map(({ signal }) => signal.aborted)).toEqual([false]);
    stop.abort(new Error('the shop closes'));
    await expect(asking).rejects.toThrow('the shop closes');
  });

  it('ends with the signal of the caller, and its reason', async () => {
    const { client, asked } = clientOf(never);
    const [stop, reason] = [new AbortController(), new Error('the shop closes')];
    const asking = client.orders.add(ORDER, { signal: stop.signal });
    stop.abort(reason);
    await expect(asking).rejects.toBe(reason);
    await expect(client.orders.add(ORDER, { signal: stop.signal })).rejects.toBe(reason);
    expect(asked.map(({ signal }) => signal.aborted)).toEqual([true]);
  });
});

describe('the types', () => {
  it('of an error narrow by its kind', () => {
    const look = (error: unknown) => {
      if (!(error instanceof OrderSyncError)) return;
      if (error.kind === 'refused') {
        expectTypeOf(error.reason).toEqualTypeOf<RefusalReason>();
        expectTypeOf(error.status).toEqualTypeOf<number>();
      } else if (error.kind === 'invalid') expectTypeOf(error.reason).toEqualTypeOf<InvalidReason | null>();
      else if (error.kind === 'unreachable') expectTypeOf(error.status).toEqualTypeOf<null>();
    };
    look(new OrderSyncError('unknown', ''));
    expect(new OrderSyncError('unknown', '')).toBeInstanceOf(Error);
  });

  it('of amounts are text, and those of options exclude each other', () => {
    type Added = Parameters<OrderSync['orders']['add']>[0];
    expectTypeOf<Added['asset']>().toEqualTypeOf<string>();
    expectTypeOf<Added>().not.toHaveProperty('state');
    expectTypeOf<Awaited<ReturnType<OrderSync['preOrders']['get']>>['asset']>().toEqualTypeOf<string>();
    expectTypeOf<{ url: string; socket: string }>().not.toExtend<ConstructorParameters<typeof OrderSync>[0]>();
    expectTypeOf<{ as: 'exists'; reason: string }>().not.toExtend<Parameters<OrderSync['decisions']['resolve']>[1]>();
  });
});
