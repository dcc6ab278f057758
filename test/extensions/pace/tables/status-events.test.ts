import { beforeEach, describe, expect, it } from 'vitest';
import {
  beforeNewestChanges,
  changedOrders,
  changeTime,
  ORDERS_A_READ,
  statusEvents,
} from '../../../../src/extensions/pace/tables/status-events.ts';
import type { Store } from '../../../../src/store/port.ts';
import { newTestDatabase } from '../../../support/database.ts';
import { eventWriter, type WrittenEvent } from '../../../support/events.ts';

const AT = '2026-01-05T12:00:00.000Z';
const ODD_IDS = ['', ' ', "it's", '\u{1F600}', 'ä', '%', '"', '\\', 'a\nb', 'x'.repeat(500)];

let store: Store;
let write: (id: string, changes?: Partial<WrittenEvent>) => void;
beforeEach(async () => {
  const database = await newTestDatabase();
  store = await database.open();
  const writer = eventWriter(database.connect());
  write = (id, changes = {}) => writer({ external_order_id: id, new_value: 'x', observed_at: AT, ...changes });
});

const newest = (count: number) => beforeNewestChanges(store.db, 'default', count);
const changed = (afterId: number, limit = 100) => changedOrders(store.db, { account: 'default', afterId, limit });
const read = (...ids: string[]) => statusEvents(store.db, 'default', ids);

/** The events that are no change of the state or a status of an order of the account. */
function writeOthers(id: string): void {
  write(id, { field: 'record.ratio' });
  write(id, { type: 'link', field: 'state' });
  write(id, { account: 'other' });
}

describe('the newest changes of states and statuses', () => {
  it('begin after an event, or with the first if there are no more', async () => {
    expect(await newest(0)).toBe(0);
    for (const id of ['a', 'b', 'c', 'd']) {
      writeOthers(id);
      write(id);
    }
    expect([await newest(10), await newest(4), await newest(3), await newest(1)]).toEqual([0, 0, 4, 12]);
    expect(await changed(await newest(1))).toEqual({ externalOrderIds: ['d'], changes: 1, lastId: 16 });
    expect(await changeTime(store.db, 'default', await newest(1))).toEqual(new Date(AT));
    expect(await changeTime(store.db, 'default', await newest(10))).toBeNull();
  });

  it('are what the exchange told: what the program and persons did is not counted', async () => {
    write('a');
    for (const source of ['create', 'operator', 'import']) write('b', { source });
    expect(await changed(0)).toEqual({ externalOrderIds: ['a'], changes: 1, lastId: 1 });
    expect(await newest(1)).toBe(0);
  });

  it('name their orders page by page, each of a page once', async () => {
    expect(await changed(0)).toEqual({ externalOrderIds: [], changes: 0, lastId: undefined });
    for (const id of ['a', 'b', 'a', 'c']) {
      write(id, { field: 'fiatTransaction.status' });
      writeOthers(id);
    }
    expect(await changed(0, 3)).toEqual({ externalOrderIds: ['a', 'b'], changes: 3, lastId: 9 });
    expect(await changed(9, 3)).toEqual({ externalOrderIds: ['c'], changes: 1, lastId: 13 });
    expect(await changed(13, 3)).toEqual({ externalOrderIds: [], changes: 0, lastId: undefined });
  });
});

describe('the changes of an order', () => {
  it('are read with all that says how long it stayed, oldest first, without what is of others', async () => {
    writeOthers('a');
    write('a', { old_value: 'pending', new_value: 'sending', source: 'create' });
    write('b');
    writeOthers('a');
    const times = { looked_up_before: '2026-01-05T12:00:00.001Z', exchange_time: '2026-01-05T12:00:00.002Z' };
    write('a', { field: 'order.status', old_value: null, new_value: 'NEW', ...times });
    const at = Date.parse(AT);
    expect(await read('a')).toMatchObject([
      [
        { id: 4, field: 'state', oldValue: 'pending', newValue: 'sending', observedAt: at, source: 'create' },
        { id: 9, field: 'order.status', oldValue: null, newValue: 'NEW', observedAt: at, source: 'lookup' },
      ].map((event, index) => ({
        ...event,
        lookedUpBefore: index === 0 ? null : at + 1,
        exchangeTime: index === 0 ? null : at + 2,
      })),
    ]);
  });

  it('have no times if these cannot be read', async () => {
    write('a', { observed_at: 'yesterday', looked_up_before: '', exchange_time: 'now' });
    expect(await read('a')).toMatchObject([[{ observedAt: Number.NaN, lookedUpBefore: null, exchangeTime: null }]]);
  });

  it('are those among its newest events: a long history is not read whole', async () => {
    write('a', { new_value: 'old' });
    for (let index = 0; index < 150; index += 1) write('a', { field: 'record.ratio' });
    for (let index = 0; index < 50; index += 1) write('a', { new_value: `${index}` });
    const [events = []] = await read('a');
    expect(events.map(({ newValue }) => newValue)).toEqual(Array.from({ length: 50 }, (_, index) => `${index}`));
  });

  it('are read for several orders at once, whatever their ids', async () => {
    const ids = [...ODD_IDS, ...Array.from({ length: ORDERS_A_READ - ODD_IDS.length }, (_, index) => `o${index}`)];
    for (const id of ids) write(id, { new_value: id });
    const orders = await read(...ids);
    expect(orders.map((events) => events.map(({ newValue }) => newValue))).toEqual(ids.map((id) => [id]));
    expect((await changed(0)).externalOrderIds).toEqual(ids);
    expect(await read('o0', 'none')).toHaveLength(1);
  });
});
