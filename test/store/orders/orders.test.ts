import { beforeEach, describe, expect, it } from 'vitest';
import type { OrderState } from '../../../src/orders/rules/states.ts';
import { finding, move, type Decision, type Tracking } from '../../../src/orders/rules/tracking.ts';
import { DUE_COLUMNS, dueKeyOf, findOrders, FIRST_DUE } from '../../../src/store/find-orders.ts';
import { trackingOf } from '../../../src/store/orders/order-columns.ts';
import * as orders from '../../../src/store/orders/orders.ts';
import { intend } from '../../../src/store/orders/intents.ts';
import type { Store, Transaction } from '../../../src/store/port.ts';
import { newTestDatabase } from '../../support/database.ts';
import type { Merchant } from '../../support/merchant.ts';
import { PUT_AT, putOrders, row, type StoredColumns } from '../../support/stored-orders.ts';
import { orderEvents } from '../../../src/extensions/operate/tables/listed-orders.ts';

const account = 'default';
const at = (second: number) => new Date(PUT_AT.getTime() + second * 1_000);
const MOVED_AT = at(60);

let store: Store;
let merchant: Merchant;
beforeEach(async () => {
  const database = await newTestDatabase();
  store = await database.open();
  merchant = database.connect();
});

const put = (state: OrderState, ...rows: readonly StoredColumns[]) => putOrders(merchant, state, ...rows);

async function read(externalOrderId: string, of = account) {
  const found = await orders.readOrder(store.db, of, externalOrderId);
  if (found === undefined) throw new Error(`there is no order ${externalOrderId}`);
  return found;
}

describe('orders that are due', () => {
  it('are asked for from a place on: later ones, and at the same time those of a later id', async () => {
    put('open', row('b', { next_action_at: at(1) }), row('c', { next_action_at: at(1) }));
    put('open', row('a', { next_action_at: at(2) }), row('z', { next_action_at: at(0) }));
    const from = { nextActionAt: at(1).toISOString(), externalOrderId: 'b' };
    const query = { account, state: 'open', until: at(9), by: 'due', limit: 9 } as const;
    const due = async (filter: object) =>
      (await findOrders(store.db, { ...query, ...filter }, DUE_COLUMNS)).map(dueKeyOf);
    expect(await due({ after: from })).toEqual([
      { nextActionAt: at(1).toISOString(), externalOrderId: 'c' },
      { nextActionAt: at(2).toISOString(), externalOrderId: 'a' },
    ]);
    expect(await due({ after: FIRST_DUE, limit: 1 })).toMatchObject([{ externalOrderId: 'z' }]);
  });

  it('are asked for by ids, also by ones that no database can store', async () => {
    put('open', row('a'), row('b\'"'), row('c'));
    const query = { account, by: 'id', limit: 9 } as const;
    const found = await findOrders(store.db, { ...query, ids: ['b\'"', 'a', 'a\0', '\ud800', 'z'] }, [
      'external_order_id',
    ]);
    expect(found.map((order) => order.external_order_id)).toEqual(['a', 'b\'"']);
    expect(await findOrders(store.db, { ...query, ids: [] }, ['external_order_id'])).toEqual([]);
  });

  it('are asked for by when they were looked up last, with the orders that never were', async () => {
    put('open', row('never'), row('then', { last_lookup_at: at(5) }), row('since', { last_lookup_at: at(6) }));
    put('open', row('other', { account: 'other' }));
    const query = { account, states: ['open'], fromId: '', limit: 9 } as const;
    expect(await orders.orderIds(store.db, { ...query, notLookedUpSince: at(5) })).toEqual(['never', 'then']);
    expect(await orders.orderIds(store.db, query)).toEqual(['never', 'since', 'then']);
  });
});

describe('the pending order that is due for longest and was never refused with 403', () => {
  const filter = { account, state: 'pending', forbiddenIn: 0, until: at(5), by: 'due', limit: 1 } as const;
  const due = async () => (await findOrders(store.db, filter, ['external_order_id']))[0]?.external_order_id;

  it('is none if there is none', async () => {
    put('pending', row('later', { next_action_at: at(6) }), row('forbidden', { forbidden_in: 1 }));
    put('pending', row('other', { account: 'other' }));
    put('accepted', row('accepted'));
    expect(await due()).toBeUndefined();
  });

  it('is the oldest', async () => {
    put('pending', row('a', { next_action_at: at(5) }), row('b', { next_action_at: at(4) }));
    expect(await due()).toBe('b');
  });
});

describe('orders that are being sent', () => {
  const sending = (limit = 9) => orders.sendingOrders(store.db, { account, until: at(5), limit });

  it('are the orders that have no time or whose time has come, the oldest first', async () => {
    put(
      'sending',
      row('a', { next_action_at: at(5) }),
      row('b', { next_action_at: at(1) }),
      row('c', { next_action_at: at(6) }),
    );
    put('sending', row('other', { account: 'other' }));
    put('unknown', row('unknown'));
    expect(await sending()).toEqual(['b', 'a']);
    expect(await sending(1)).toEqual(['b']);
    put('sending', row('never', { next_action_at: null }));
    expect((await sending()).toSorted()).toEqual(['a', 'b', 'never']);
  });
});

describe('an order', () => {
  beforeEach(() => {
    put('open', row('a', { asset: '1' }));
    put('open', row('a', { asset: '2', account: 'other' }), row('b', { account: 'other' }));
  });

  it('is read and locked by its account and its id', async () => {
    expect((await read('a')).asset).toBe('1');
    expect(await orders.readOrder(store.db, account, 'b')).toBeUndefined();
    await store.writer.write(async (tx) => {
      for (const lock of [orders.lockOrder, orders.lockFreeOrder]) {
        expect((await lock(tx, 'other', 'a'))?.asset).toBe('2');
        expect(await lock(tx, account, 'b')).toBeUndefined();
      }
    });
  });
});

it('counts the orders of states, or the due ones', async () => {
  put(
    'open',
    row('a'),
    row('b', { next_action_at: at(5) }),
    row('c', { next_action_at: at(6) }),
    row('d', { next_action_at: null }),
  );
  put('final', row('e', { next_action_at: null }));
  put('held', row('f'));
  put('open', row('g', { account: 'other' }));
  const count = (until?: Date) => orders.countByState(store.db, account, ['open', 'final'], until);
  expect(await count()).toEqual(
    new Map([
      ['open', 4],
      ['final', 1],
    ]),
  );
  expect(await count(at(5))).toEqual(new Map([['open', 2]]));
});

it('postpones one order, and changes nothing else', async () => {
  put('sending', row('a'), row('b'), row('a', { account: 'other' }));
  const before = await read('a');
  const [b, other] = [await read('b'), await read('a', 'other')];
  await store.writer.write((tx) => orders.postpone(tx, { account, externalOrderId: 'a', until: at(7) }));
  expect(await read('a')).toEqual({ ...before, next_action_at: at(7).toISOString(), revision: 2 });
  expect([await read('b'), await read('a', 'other')]).toEqual([b, other]);
});

describe('a decision', () => {
  const decide = async (decision: Decision, before: Tracking) =>
    await store.writer.write((tx) => orders.saveDecision(tx, before, decision, MOVED_AT));
  const stood = async (state: OrderState = 'accepted') => {
    put(state, row('a', { pre_order_id: 'p' }), row('b'));
    return trackingOf(await read('a'));
  };

  it('about a look-up that shows nothing new leaves the time of the last change as it is', async () => {
    const before = await stood();
    const saved = await decide({ tracking: { ...before, lastLookupAt: at(3) }, events: [] }, before);
    expect(saved).toEqual({ ...before, lastLookupAt: at(3), revision: before.revision + 1 });
    expect(trackingOf(await read('a'))).toEqual(saved);
    expect((await read('a')).updated_at).toBe(PUT_AT.toISOString());
  });

  it('that has an event is written with its time, also after one that changed the same columns and had none', async () => {
    const before = await stood();
    const looked = await decide({ tracking: { ...before, lastLookupAt: at(3) }, events: [] }, before);
    const event = finding('AMOUNT_MISMATCH', 'lookup', 'one', null);
    await decide({ tracking: { ...looked, lastLookupAt: at(4) }, events: [event] }, looked);
    expect((await read('a')).updated_at).toBe(MOVED_AT.toISOString());
  });

  it.each<[string, (before: Tracking) => Decision]>([
    ['a move', (before) => move(before, 'open', { source: 'lookup' }, { orderId: 'o' })],
    [
      'what has changed in the same state',
      (before) => ({
        tracking: { ...before, orderStatus: 'NEXT' },
        events: [
          {
            field: 'order.status',
            oldValue: null,
            newValue: 'NEXT',
            exchangeTime: null,
            source: 'lookup',
            reason: null,
          },
        ],
      }),
    ],
    ['the id of its pre-order', (before) => ({ tracking: { ...before, preOrderId: 'q' }, events: [] })],
    ['a move that nothing says', (before) => ({ tracking: { ...before, state: 'open' }, events: [] })],
  ])('about %s is written with its time', async (_what, decisionOn) => {
    const before = await stood();
    const decision = decisionOn(before);
    const saved = await decide(decision, before);
    expect(saved).toEqual({ ...decision.tracking, revision: before.revision + 1 });
    expect(trackingOf(await read('a'))).toEqual(saved);
    expect((await read('a')).updated_at).toBe(MOVED_AT.toISOString());
    expect(await orderEvents(store.db, account, 'a')).toHaveLength(decision.events.length);
    expect((await read('b')).revision).toBe(1);
  });

  it.each<[string, (before: Tracking) => Partial<Tracking>]>([
    ['before the row was read', ({ revision }) => ({ revision: revision - 1 })],
    ['since the row was read', ({ revision }) => ({ revision: revision + 1 })],
    ['by another owner, with the same revision', () => ({ state: 'unknown' })],
  ])('is refused if it is of a row as it stood %s, and leaves no event', async (_when, other) => {
    const before = await stood();
    const stale = { ...before, ...other(before) };
    const result = decide(move(stale, 'open', { source: 'lookup' }), stale);
    await expect(result).rejects.toMatchObject({
      problem: 'refused',
      message: expect.stringMatching(/"a" was changed since it was read/) as string,
    });
    expect(trackingOf(await read('a'))).toEqual(before);
    expect(await orderEvents(store.db, account, 'a')).toEqual([]);
  });

  it('is refused if a trigger leaves the row as it was, which counts as a change, and leaves no event', async () => {
    const before = await stood();
    const result = store.writer.write((tx) => {
      const { run } = tx;
      const leaving: typeof run = (query) =>
        query.sql.startsWith('update') ? { rows: [{ revision: before.revision }] as never[] } : run!(query);
      const { tracking, events } = move(before, 'open', { source: 'lookup' });
      return orders.saveDecision(Object.assign(tx, { run: leaving }), before, { tracking, events }, MOVED_AT);
    });
    await expect(result).rejects.toMatchObject({
      problem: 'refused',
      message: expect.stringMatching(/"a" was not changed, because a trigger restored the old row/) as string,
    });
    expect(await orderEvents(store.db, account, 'a')).toEqual([]);
  });

  it('has its events say when the order was looked up before', async () => {
    put('accepted', row('a', { last_lookup_at: at(2) }));
    const before = trackingOf(await read('a'));
    await decide(move(before, 'open', { source: 'lookup' }, { lastLookupAt: at(9) }), before);
    const event = merchant.prepare('select looked_up_before, observed_at from events').get();
    expect(event).toEqual({ looked_up_before: at(2).toISOString(), observed_at: MOVED_AT.toISOString() });
  });
});

it('finds another order of the account that has a pre-order id', async () => {
  put(
    'open',
    row('a', { pre_order_id: 'p' }),
    row('b', { pre_order_id: 'q' }),
    row('c', { pre_order_id: 'r', account: 'other' }),
  );
  const find = (externalOrderId: string, preOrderId: string) =>
    store.writer.write((tx) => orders.orderWithPreOrder(tx, { account, externalOrderId, preOrderId }));
  expect(await find('b', 'p')).toBe('a');
  expect(await find('a', 'p')).toBeUndefined();
  expect(await find('a', 'r')).toBeUndefined();
});

describe('the intents of a transaction', () => {
  it('are each read again, also if two accounts have an order of the same id', async () => {
    for (const one of [account, 'other']) put('pending', row('a', { account: one }));
    const intendIn = (of: string, changes: Partial<Tracking>) => async (tx: Transaction) => {
      const found = (await orders.lockOrder(tx, of, 'a'))!;
      const before = trackingOf(found);
      const sent = { attempts: before.attempts + 1, sentAt: MOVED_AT };
      const decision = move(before, 'sending', { source: 'create' }, sent);
      const saved = await orders.saveDecision(tx, before, decision, MOVED_AT);
      intend(tx, found, { ...saved, ...changes });
    };
    const [lost, kept] = [intendIn(account, { attempts: 7 }), intendIn('other', {})];
    const result = store.writer.write(async (tx) => {
      await lost(tx);
      await kept(tx);
    });
    await expect(result).rejects.toMatchObject({
      problem: 'refused',
      message: expect.stringMatching(/a trigger changed attempts of order "a"/) as string,
    });
    await store.writer.write(kept);
    expect([(await read('a')).state, (await read('a', 'other')).state]).toEqual(['pending', 'sending']);
  });
});
