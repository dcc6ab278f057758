import { beforeEach, describe, expect, it } from 'vitest';
import type { OrderState } from '../../src/domain/orders/states.ts';
import { readOrder } from '../../src/store/orders.ts';
import type { Store } from '../../src/store/port.ts';
import { correctDueTimes, wronglyDueOrders, type WronglyDue } from '../../src/store/wrong-due-times.ts';
import { newTestDatabase } from '../support/database.ts';
import type { Merchant } from '../support/merchant.ts';
import { PUT_AT, putOrders, row, type StoredColumns } from '../support/stored-orders.ts';

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

describe('orders that are due at a wrong time', () => {
  const wrong = { account, state: 'open', latest: at(50), limit: 9 } as const;
  const list = (changes: Partial<WronglyDue> = {}) =>
    store.writer.write(async (tx) => (await wronglyDueOrders(tx, { ...wrong, ...changes })).toSorted());
  const NEVER = { next_action_at: null };
  const LATE = { next_action_at: at(51) };

  beforeEach(() => {
    put('open', row('right', { next_action_at: at(50) }), row('late', LATE), row('never', NEVER));
    put('open', row('elsewhere', { ...LATE, account: 'other' }));
    put('held', row('held', LATE));
  });

  it('are due too late or never', async () => {
    expect(await list()).toEqual(['late', 'never']);
  });

  it('are due too late where they are disputed: a disputed order may be due never', async () => {
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
    put('open', row('told', { ...LATE, state_reason: 'not sent: refused' }));
    expect(await list({ reason: 'not sent: ' })).toEqual(['told']);
  });

  it('are given some at a time', async () => {
    put('open', ...['1', '2', '3', '4'].map((name) => row(name, LATE)));
    // Of those that are late and of those that are due never.
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
