import { beforeEach, describe, expect, it } from 'vitest';
import { ORDER_STATES, type OrderState } from '../../../src/orders/rules/states.ts';
import { leaseRequests, nextGeneration, setAccountFact } from '../../../src/store/tables/accounts.ts';
import { setHold } from '../../../src/store/tables/account-holds.ts';
import { readOrder } from '../../../src/store/orders/orders.ts';
import type { Store, Transaction } from '../../../src/store/port.ts';
import {
  accountsToPutRight,
  correctDueTimes,
  wronglyDueOrders,
  type WronglyDue,
} from '../../../src/store/orders/wrong-due-times.ts';
import { newTestDatabase } from '../../support/database.ts';
import type { Merchant } from '../../support/merchant.ts';
import { PUT_AT, putOrders, row, type StoredColumns } from '../../support/stored-orders.ts';

const account = 'default';
const at = (second: number) => new Date(PUT_AT.getTime() + second * 1_000);

let store: Store;
let merchant: Merchant;
beforeEach(async () => {
  const database = await newTestDatabase();
  store = await database.open();
  merchant = database.connect();
});

const put = (state: OrderState, ...rows: readonly StoredColumns[]) => putOrders(merchant, state, ...rows);
const NEVER = { next_action_at: null };
const LATE = { next_action_at: at(51) };

describe('orders that are due at a wrong time', () => {
  const wrong = { account, state: 'open', latest: at(50), limit: 9 } as const;
  const list = (changes: Partial<WronglyDue> = {}) =>
    store.writer.write(async (tx) => (await wronglyDueOrders(tx, { ...wrong, ...changes })).toSorted());

  beforeEach(() => {
    put('open', row('right', { next_action_at: at(50) }), row('late', LATE), row('never', NEVER));
    put('open', row('elsewhere', { ...LATE, account: 'other' }));
    put('held', row('held', LATE));
  });

  it('are due too late or never', async () => {
    expect(await list()).toEqual(['late', 'never']);
  });

  it('are due too late if they are disputed: a disputed order may be due never', async () => {
    put('disputed', row('x', LATE), row('y', NEVER));
    expect(await list({ state: 'disputed' })).toEqual(['x']);
  });

  it('are given without some, and one alone', async () => {
    expect(await list({ except: ['late'] })).toEqual(['never']);
    expect(await list({ except: ['late', 'never'] })).toEqual([]);
    expect(await list({ only: 'late' })).toEqual(['late']);
    expect(await list({ only: 'right' })).toEqual([]);
  });

  it('are given by how the reason of their state begins', async () => {
    const reason = { state_reason: 'not sent: refused' };
    put('open', row('told', { ...LATE, ...reason }), row('told never', { ...NEVER, ...reason }));
    expect(await list({ reason: 'not sent: ' })).toEqual(['told']);
  });

  it('are given some at a time', async () => {
    put('open', ...['1', '2', '3', '4'].map((name) => row(name, LATE)));
    // Of late orders and of orders that are due never.
    expect(await list({ limit: 2 })).toHaveLength(3);
  });

  it('become due at another time, and their revision rises', async () => {
    const to = at(10);
    const done = await store.writer.write((tx) => correctDueTimes(tx, { ...wrong, to, except: ['never'] }));
    expect(done).toBe(1);
    expect(await readOrder(store.db, account, 'late')).toMatchObject({ next_action_at: to.toISOString(), revision: 2 });
    for (const [name, of] of [
      ['right', account],
      ['never', account],
      ['held', account],
      ['elsewhere', 'other'],
    ] as const)
      expect((await readOrder(store.db, of, name))?.revision).toBe(1);
  });
});

describe('accounts that a new owner puts right', () => {
  const latest = { due: at(50), lease: at(5) };
  const list = async (accounts?: readonly string[]) => {
    const all = await store.db.selectFrom('account_owners').select('account').execute();
    const asked = accounts ?? all.map((owner) => owner.account);
    return (await accountsToPutRight(store.db, { accounts: asked, ...latest })).toSorted();
  };
  const write = (work: (tx: Transaction) => Promise<unknown>) => store.writer.write(work);
  const own = (...accounts: readonly string[]) =>
    write(async (tx) => {
      for (const one of accounts) await nextGeneration(tx, one);
    });

  it('have a key that was refused', async () => {
    await own('paused', 'refused', 'without');
    const hold = { since: at(0), until: at(1), reason: 'r', actor: null };
    await write((tx) => setHold(tx, 'paused', { ...hold, kind: 'rate-limited' }, at(0)));
    await write((tx) => setHold(tx, 'refused', { ...hold, kind: 'key-refused' }, at(0)));
    expect(await list()).toEqual(['refused']);
  });

  it('have an order that is due too late, or never though it waits', async () => {
    const times = { late: LATE, never: NEVER, right: { next_action_at: at(50) } };
    for (const state of ORDER_STATES) {
      for (const [when, time] of Object.entries(times)) {
        put(state, row('x', { ...time, account: `${state} ${when}` }));
        await own(`${state} ${when}`);
      }
    }
    const waiting = ['accepted', 'held', 'open', 'pending', 'unknown'].flatMap((one) => [
      `${one} late`,
      `${one} never`,
    ]);
    expect(await list()).toEqual([...waiting, 'disputed late'].toSorted());
  });

  it('have a lease that ends too late', async () => {
    await own('right', 'late', 'without');
    const lease = { boot: null, bootMs: null, requests: 1, intervalMs: 1, spent: [], concurrency: 1, timeoutMs: 1 };
    await write((tx) => leaseRequests(tx, 'right', { ...lease, until: at(5) }));
    await write((tx) => leaseRequests(tx, 'late', { ...lease, until: at(6) }));
    expect(await list()).toEqual(['late']);
  });

  it('have times that could not be corrected', async () => {
    await own('right', 'uncorrected', 'without');
    const fact = { value: '{"ids":[]}', now: at(0) };
    await write((tx) => setAccountFact(tx, { ...fact, account: 'right', name: 'merchant.id' }));
    await write((tx) => setAccountFact(tx, { ...fact, account: 'uncorrected', name: 'times.uncorrected' }));
    expect(await list()).toEqual(['uncorrected']);
  });

  it('are asked for by name, and had an owner', async () => {
    const names = ['a', 'b', 'c', 'd'];
    put('open', ...names.map((one) => row('x', { ...LATE, account: one })));
    await own('a', 'b', 'd');
    expect(await list()).toEqual(['a', 'b', 'd']);
    expect(await list(['b', 'c'])).toEqual(['b']);
    expect(await list(['b', 'd'])).toEqual(['b', 'd']);
  });
});
