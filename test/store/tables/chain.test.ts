import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { appendToChain, hashedText } from '../../../src/store/tables/chain.ts';
import { readOrder, saveDecision } from '../../../src/store/orders/orders.ts';
import { trackingOf } from '../../../src/store/orders/order-columns.ts';
import type { NewEvent, Store } from '../../../src/store/port.ts';
import { isSqlite, newTestDatabase } from '../../support/database.ts';
import type { Merchant } from '../../support/merchant.ts';

const AT = '2026-01-05T12:00:00.000Z';

let store: Store;
let merchant: Merchant;
beforeEach(async () => {
  const database = await newTestDatabase();
  store = await database.open();
  merchant = database.connect();
});

function eventWith(changes: Partial<NewEvent> = {}): NewEvent {
  return {
    account: 'default',
    type: 'order',
    subject: 'a',
    field: 'state',
    old_value: null,
    new_value: 'pending',
    observed_at: AT,
    looked_up_before: null,
    exchange_time: null,
    source: 'create',
    reason: null,
    actor: null,
    ...changes,
  };
}

const insert = (...events: NewEvent[]) =>
  store.writer.write(async (tx) => {
    for (const event of events) await appendToChain(tx, event.account, [event]);
  });

type Row = NewEvent & { readonly id: number; readonly previous_hash: string; readonly hash: string };
const rows = () => merchant.prepare('select * from events order by id').all() as Row[];
const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');

/** Ids of the events that do not follow from the event of their account before them. */
function broken(): number[] {
  const heads = new Map<string, string>();
  return rows().flatMap((row) => {
    const isWhole =
      row.previous_hash === (heads.get(row.account) ?? '') && row.hash === sha256(hashedText(row.previous_hash, row));
    heads.set(row.account, row.hash);
    return isWhole ? [] : [row.id];
  });
}

describe('the hash of an event', () => {
  it('is that of a JSON array of the hash before it and its columns', async () => {
    await insert(eventWith({ new_value: 'he said "ü"\n', actor: 'anna', looked_up_before: AT }));
    const [first] = rows();
    const text = `["","default","order","a","state",null,"he said \\"ü\\"\\n","${AT}","${AT}",null,"create",null,"anna"]`;
    expect(hashedText('', first!)).toBe(text);
    expect(first).toMatchObject({ previous_hash: '', hash: sha256(text) });
  });

  it('continues within the events that are recorded at once, and behind them', async () => {
    const three = ['pending', 'sending', 'accepted'].map((state) => eventWith({ new_value: state }));
    await store.writer.write((tx) => appendToChain(tx, 'default', three));
    await insert(eventWith({ new_value: 'open' }));
    expect(rows().map((row) => row.new_value)).toEqual(['pending', 'sending', 'accepted', 'open']);
    expect(broken()).toEqual([]);
    expect(merchant.prepare('select id, hash from event_heads').all()).toEqual([{ id: 4, hash: rows()[3]?.hash }]);
  });

  it('continues if works beside each other record more at once than one statement takes', async () => {
    const works = ['a', 'b', 'c'].map((subject) => {
      const many = Array.from({ length: 45 }, (_, place) => eventWith({ subject, new_value: `${subject} ${place}` }));
      return store.writer.write((tx) => appendToChain(tx, 'default', many), [subject]);
    });
    await Promise.all(works);
    expect(broken()).toEqual([]);
    expect(rows()).toHaveLength(135);
    const { id, hash } = rows()[134]!;
    expect(merchant.prepare('select id, hash from event_heads').all()).toEqual([{ id, hash }]);
  });

  it('continues from event to event of an account, of orders and links, and from account to account anew', async () => {
    await insert(eventWith(), eventWith({ account: 'other' }), eventWith({ type: 'link' }));
    await insert(eventWith({ old_value: 'pending', new_value: 'sending' }));
    expect(rows().map(({ previous_hash }) => previous_hash)).toEqual(['', '', rows()[0]?.hash, rows()[2]?.hash]);
    expect(broken()).toEqual([]);
    expect(merchant.prepare('select account, id, hash from event_heads order by account').all()).toEqual([
      { account: 'default', id: 4, hash: rows()[3]?.hash },
      { account: 'other', id: 2, hash: rows()[1]?.hash },
    ]);
  });

  it.each(['half \ud800', '\u0000', '\u2028', 'x'.repeat(100_000)])('is that of the stored text: %j', async (odd) => {
    await insert(eventWith({ new_value: odd, reason: odd, exchange_time: odd }));
    expect(broken()).toEqual([]);
  });

  it('tells what another program has put in, whatever its hash', async () => {
    await insert(eventWith());
    merchant.exec(`insert into events (account, type, subject, field, observed_at, source, previous_hash, hash)
      select 'default', 'order', 'a', 'state', '${AT}', 'create', hash, 'forged' from events`);
    await insert(eventWith());
    expect(broken()).toEqual([2, 3]);
  });
});

describe('events', () => {
  const COLUMNS = 'id, account, type, subject, field, new_value, observed_at, source, previous_hash, hash';
  const VALUES = `'default', 'order', 'a', 'state', 'FORGED', 'now', 'create', '', ''`;

  // PostgreSQL has no replace, and keys events by their account too.
  const replacing = [
    ['updated in place of another', `update or replace events set id = 1 where id = 2`],
    ['replaced', `insert or replace into events (${COLUMNS}) values (1, ${VALUES})`],
    ['replaced by rowid', `replace into events (${COLUMNS.replace('id,', 'rowid,')}) values (2, ${VALUES})`],
  ];
  const key = isSqlite() ? 'id' : 'account, id';

  it.each([
    ['updated', `update events set new_value = 'FORGED'`],
    ['deleted', `delete from events`],
    [
      'upserted',
      `insert into events (${COLUMNS}) values (1, ${VALUES}) on conflict (${key}) do update set new_value = excluded.new_value`,
    ],
    ...(isSqlite() ? replacing : []),
  ])('cannot be %s', async (_, attempt) => {
    await insert(eventWith(), eventWith({ type: 'link' }));
    const before = rows();
    expect(() => merchant.exec(attempt)).toThrow('events is append-only');
    expect(rows()).toEqual(before);
  });

  it.each([
    `update order_events set new_value = 'FORGED'`,
    'delete from order_events',
    `insert into order_events (account, external_order_id, field, observed_at, source) values ('default', 'a', 'state', 'now', 'create')`,
  ])('of orders are a view that takes no writes: %s', async (attempt) => {
    await insert(eventWith());
    expect(() => merchant.exec(attempt)).toThrow(isSqlite() ? 'order_events' : 'events');
    expect(rows()).toHaveLength(1);
  });

  it('continue after an attempt to stop them with an id that the guard would take for a new one', async () => {
    const attempt = `insert into events (${COLUMNS}) values (-1, ${VALUES})`;
    expect(() => merchant.exec(attempt)).toThrow(/events_id_is_positive/);
    await insert(eventWith());
    expect(rows()).toHaveLength(1);
  });

  it('of an order bear the look-up before them, not the one that they came with', async () => {
    merchant.exec(`insert into merchant_orders (external_order_id) values ('a')`);
    const look = async (at: Date) =>
      await store.writer.write(async (tx) => {
        const before = trackingOf((await readOrder(tx, 'default', 'a'))!);
        const event = { field: 'order.status', oldValue: null, newValue: 'NEW', exchangeTime: null } as const;
        const tracking = { ...before, lastLookupAt: at };
        await saveDecision(tx, before, { tracking, events: [{ ...event, source: 'lookup', reason: null }] }, at);
      });
    const later = new Date(Date.parse(AT) + 1_000);
    await look(new Date(AT));
    await look(later);
    expect(rows().map(({ looked_up_before }) => looked_up_before)).toEqual([null, AT]);
  });
});
