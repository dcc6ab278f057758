import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MERCHANT_COLUMNS, OUR_COLUMNS } from '../../migrations/rules.ts';
import { decideCorrected } from '../../src/orders/rules/create.ts';
import { ALLOWED_NEXT, ORDER_STATES, type OrderState } from '../../src/orders/rules/states.ts';
import { move, type Decision, type Tracking } from '../../src/orders/rules/tracking.ts';
import * as accounts from '../../src/store/tables/accounts.ts';
import { DUE_COLUMNS, dueKeyOf, findOrders, FIRST_DUE, type OrderFilter } from '../../src/store/find-orders.ts';
import * as orders from '../../src/store/orders/orders.ts';
import { correctDueTimes } from '../../src/store/orders/wrong-due-times.ts';
import { listOrders, orderEvents } from '../../src/extensions/operate/tables/listed-orders.ts';
import { trackingOf, uncheckedOrderOf } from '../../src/store/orders/order-columns.ts';
import { keepAnswer, keepPreOrder, readPreOrder } from '../../src/store/tables/order-records.ts';
import type { RecordView } from '../../src/orders/rules/record.ts';
import * as records from '../../src/store/tables/order-records.ts';
import { NO_TURNS } from '../../src/orders/rules/record-change.ts';
import type { Store } from '../../src/store/port.ts';
import { trackingWith } from '../support/tracking.ts';

/** An open database of one dialect, and the merchant's own connection to it. */
export interface Subject extends AsyncDisposable {
  readonly store: Store;
  /** Runs one statement as the merchant. Throws what the database says. */
  run(sql: string): void;
}

const ACCOUNT = 'default';
const NOW = new Date('2026-01-05T12:00:00.000Z');
const SENT_STATES = [
  'sending',
  'unknown',
  'held',
  'accepted',
  'open',
  'final',
  'disputed',
  'rejected',
  'cancelled',
  'abandoned',
] as const satisfies readonly OrderState[];

/** By which states the program brings an order from `pending` to each. */
const WAY_TO: Readonly<Record<OrderState, readonly OrderState[]>> = {
  pending: [],
  sending: [],
  invalid: [],
  cancelled: [],
  accepted: ['sending'],
  rejected: ['sending'],
  unknown: ['sending'],
  held: ['sending', 'unknown'],
  open: ['sending', 'accepted'],
  final: ['sending', 'accepted'],
  disputed: ['sending', 'accepted'],
  abandoned: ['sending', 'accepted'],
};
/** The error of each dialect about a key that another row has. */
const TAKEN = /UNIQUE constraint failed: merchant_orders.account|"merchant_orders_key"/;
/** The other writes that the database takes: both moves of one decision at once. */
const ALSO_TAKEN = ['unknown pending'];

/** Tests the behaviour on which the program relies in any database. */
export function storeContract(dialect: string, open: () => Promise<Subject>): void {
  let subject: Subject;
  beforeEach(async () => {
    subject = await open();
  });
  afterEach(async () => await subject[Symbol.asyncDispose]());

  const insert = (...ids: string[]) => {
    for (const id of ids) {
      const columns = 'external_order_id, asset, from_currency, to_currency';
      subject.run(`insert into merchant_orders (${columns}) values ('${id}', '1.5', 'BTC', 'EUR')`);
    }
  };
  /** Writes a decision about the row as it stands, or as it was when `before` was read. */
  const save = async (decision: Decision, before?: Tracking) =>
    await subject.store.writer.write(async (tx) => {
      const row = await orders.readOrder(tx, ACCOUNT, decision.tracking.externalOrderId);
      const read = row === undefined ? decision.tracking : trackingOf(row);
      return await orders.saveDecision(tx, before ?? read, decision, NOW);
    });
  /** An order that the program has brought into a state, with the event that says so. */
  const insertIn = async (id: string, state: OrderState, changes: Partial<Tracking> = {}) => {
    insert(id);
    const event = { field: 'state', oldValue: 'pending', newValue: state } as const;
    const tracking = trackingWith({ externalOrderId: id, attempts: 1, ...changes });
    for (const next of WAY_TO[state]) await save({ tracking: { ...tracking, state: next }, events: [] });
    await save({
      tracking: { ...tracking, state },
      events: [{ ...event, exchangeTime: null, source: 'create', reason: null }],
    });
  };
  const read = async (id: string) => {
    const row = await orders.readOrder(subject.store.db, ACCOUNT, id);
    if (row === undefined) throw new Error(`there is no row ${id}`);
    return row;
  };
  const events = async (id: string) => {
    const rows = await orderEvents(subject.store.db, ACCOUNT, id);
    return rows.map(({ field, old_value, new_value }) => `${field} ${old_value} → ${new_value}`);
  };
  const claim = (id = 'a') =>
    move(trackingWith({ externalOrderId: id }), 'sending', { source: 'create' }, { attempts: 1 });

  describe(`a decision, on ${dialect}`, () => {
    it('is written to the row, every column of it, with its events', async () => {
      await insertIn('a', 'accepted');
      const tracking: Tracking = {
        account: ACCOUNT,
        externalOrderId: 'a',
        state: 'open',
        stateReason: 'why',
        revision: 3,
        preOrderId: 'p',
        exchangeType: 'SELL',
        orderId: 'o',
        orderStatus: 'REQUEST',
        cryptoStatus: 'NEW',
        fiatStatus: 'PAID',
        attempts: 2,
        nextActionAt: new Date('2026-01-05T12:00:01.001Z'),
        lastLookupAt: new Date('2026-01-05T12:00:02.002Z'),
        sentAt: new Date('2026-01-05T12:00:03.003Z'),
        changedAt: new Date('2026-01-05T12:00:04.004Z'),
        modificationDate: '2026-01-05T12:00:05Z',
        staleDate: '2026-01-05T12:00:06Z',
        verifications: 3,
        resends: 1,
        rechecks: 4,
        documentedAbsences: 5,
        absentAt: new Date('2026-01-05T12:00:08.008Z'),
        forbiddenIn: 3,
        adoptedAt: new Date('2026-01-05T12:00:09.009Z'),
        outcome: 'succeeded',
        oursDespite: '[["amount","15"]]',
        failOver: 9,
      };
      const event = { oldValue: 'x', exchangeTime: '2026-01-05T12:00:07Z', source: 'lookup', reason: 'r' } as const;
      await save({
        tracking,
        events: [
          { ...event, field: 'order.status', newValue: 'y' },
          { ...event, field: 'state', newValue: 'open' },
        ],
      });
      const row = await read('a');
      expect(trackingOf(row)).toEqual({ ...tracking, revision: 3 });
      expect(row.updated_at).toBe(NOW.toISOString());
      expect((await orderEvents(subject.store.db, ACCOUNT, 'a')).slice(1)).toEqual([
        expect.objectContaining({
          field: 'order.status',
          old_value: 'x',
          new_value: 'y',
          source: 'lookup',
          reason: 'r',
        }),
        expect.objectContaining({ exchange_time: '2026-01-05T12:00:07Z', observed_at: NOW.toISOString() }),
      ]);
    });

    it('leaves what the merchant wrote as it stands', async () => {
      insert('a');
      const before = uncheckedOrderOf(await read('a'));
      await save(claim());
      expect(uncheckedOrderOf(await read('a'))).toEqual(before);
    });

    it('is refused when the row is another one than was read, and all of it is undone', async () => {
      insert('a');
      await save(claim());
      const second = subject.store.writer.write(async (tx) => {
        const received = { account: ACCOUNT, externalOrderId: 'a', body: '{}', receivedAt: NOW.toISOString() };
        await keepPreOrder(tx, received);
        await orders.saveDecision(tx, claim().tracking, claim(), NOW);
      });
      await expect(second).rejects.toMatchObject({ name: 'StoreError', problem: 'refused' });
      expect(await events('a')).toEqual(['state pending → sending']);
      expect(await readPreOrder(subject.store.db, ACCOUNT, 'a')).toBeUndefined();
    });

    it('is written for one of two that were made of the same reading, however little they change', async () => {
      await insertIn('a', 'open');
      const stood = trackingOf(await read('a'));
      const looks = [1, 2].map((rechecks) => save({ tracking: { ...stood, rechecks }, events: [] }, stood));
      const results = await Promise.allSettled(looks);
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
      expect(await read('a')).toMatchObject({ rechecks: 1, revision: stood.revision + 1 });
    });

    it('is refused for an order that is not there, or is of another account', async () => {
      insert('a');
      const { tracking, events: claimed } = claim();
      await expect(save(claim('b'))).rejects.toMatchObject({ problem: 'refused' });
      const other = { tracking: { ...tracking, account: 'other' }, events: claimed };
      await expect(save(other)).rejects.toMatchObject({ problem: 'refused' });
      expect((await read('a')).state).toBe('pending');
    });
  });

  describe(`what is due, on ${dialect}`, () => {
    const at = (second: number) => new Date(NOW.getTime() + second * 1_000);
    const due = async (query: Partial<OrderFilter> = {}) => {
      const filter = { account: ACCOUNT, state: 'open', until: at(9), after: FIRST_DUE, by: 'due', limit: 9 } as const;
      return (await findOrders(subject.store.db, { ...filter, ...query }, DUE_COLUMNS)).map(dueKeyOf);
    };
    const insertDue = async (id: string, nextActionAt: Date | null, state: OrderState = 'open') =>
      await insertIn(id, state, { nextActionAt });

    it('comes oldest first and, at the same time, by its id', async () => {
      await insertDue('c', at(1));
      await insertDue('b', at(1));
      await insertDue('a', at(2));
      await insertDue('d', at(0));
      expect((await due()).map(({ externalOrderId }) => externalOrderId)).toEqual(['d', 'b', 'c', 'a']);
    });

    it('is of one state, has a time, and the time has come', async () => {
      await insertDue('now', at(9));
      await insertDue('later', at(10));
      await insertDue('never', null);
      await insertDue('other', at(0), 'accepted');
      expect((await due()).map(({ externalOrderId }) => externalOrderId)).toEqual(['now']);
      expect(await due({ account: 'other' })).toEqual([]);
    });

    it('is met once by pages, also if many are due at the same time', async () => {
      const ids = Array.from({ length: 7 }, (_, index) => `o${index}`);
      for (const id of ids) await insertDue(id, at(id < 'o5' ? 1 : 0));
      const met: string[] = [];
      for (let after = FIRST_DUE; ;) {
        const page = await due({ after, limit: 2 });
        met.push(...page.map(({ externalOrderId }) => externalOrderId));
        if (page.length < 2) break;
        after = page.at(-1) ?? after;
      }
      expect(met).toEqual(['o5', 'o6', 'o0', 'o1', 'o2', 'o3', 'o4']);
    });

    it('is brought forward if it is too far away or has no time, and never otherwise', async () => {
      await insertDue('near', at(1));
      await insertDue('far', at(100));
      await insertDue('never', null);
      await insertDue('other', at(100), 'final');
      await insertDue('ended', null, 'final');
      const query = { account: ACCOUNT, state: 'open', latest: at(50), to: at(0), limit: 10 } as const;
      const correct = () => subject.store.writer.write((tx) => correctDueTimes(tx, query));
      expect([await correct(), await correct()]).toEqual([2, 0]);
      const times = await Promise.all(
        ['near', 'far', 'never', 'other', 'ended'].map(async (id) => (await read(id)).next_action_at),
      );
      expect(times).toEqual([
        at(1).toISOString(),
        at(0).toISOString(),
        at(0).toISOString(),
        at(100).toISOString(),
        null,
      ]);
    });

    it('can be asked for by states, due or not, in the order of ids', async () => {
      await insertDue('b', null);
      await insertDue('a', at(100));
      await insertDue('c', at(0), 'accepted');
      await insertDue('d', at(0), 'final');
      const query = { account: ACCOUNT, states: ['open', 'accepted'] as const };
      expect(await orders.orderIds(subject.store.db, { ...query, fromId: '', limit: 2 })).toEqual(['a', 'b']);
      expect(await orders.orderIds(subject.store.db, { ...query, fromId: 'b', limit: 2 })).toEqual(['c']);
    });
  });

  describe(`a row that the merchant inserts, on ${dialect}`, () => {
    it('is pending and due at once', async () => {
      insert('a');
      const row = await read('a');
      expect(row).toMatchObject({ state: 'pending', account: ACCOUNT, asset_position: 'INPUT', order_type: 'DEPOSIT' });
      expect(row.next_action_at).toBe(row.created_at);
      expect(row.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    });

    it.each(['null', `'now'`, `'2026-01-05 12:00:00'`, '5'])('is due also if its time is %s', async (time) => {
      subject.run(`insert into merchant_orders (external_order_id, next_action_at) values ('a', ${time})`);
      const row = await read('a');
      expect(row.next_action_at).toBe(row.created_at);
    });

    it.each([
      'yesterday',
      '',
      '2026-01-05',
      '2026-01-05T12:00:00Z',
      '2026-02-30T12:00:00.000Z',
      '2999-01-01T00:00:00.000Z',
    ])('was inserted now if its time is none of the past: %j', async (given) => {
      for (const more of ['', ', next_action_at']) {
        const values = more === '' ? '' : ', null';
        subject.run('delete from merchant_orders');
        subject.run(
          `insert into merchant_orders (external_order_id, created_at${more}) values ('a', '${given}'${values})`,
        );
        const row = await read('a');
        expect(row.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
        expect(row.created_at).not.toBe(given);
        expect(row.next_action_at).toMatch(/Z$/);
      }
    });

    it('keeps its time of the past', async () => {
      subject.run(
        `insert into merchant_orders (external_order_id, created_at) values ('a', '2020-02-29T23:59:59.999Z')`,
      );
      expect(await read('a')).toMatchObject({ created_at: '2020-02-29T23:59:59.999Z' });
    });

    it.each([
      ['last_lookup_at', `'yesterday'`],
      ['sent_at', `'2026-01-05T12:00:00.000Z'`],
      ['changed_at', `''`],
      ['revision', '1'],
      ['attempts', '3'],
      ['resends', '1'],
      ['pre_order_id', `'p'`],
      ['order_status', `'NEW'`],
    ])('brings nothing of what the program writes: %s %s', async (column, value) => {
      const sql = `insert into merchant_orders (external_order_id, ${column}) values ('a', ${value})`;
      expect(() => subject.run(sql)).toThrow('leave out what order-sync writes');
      expect(await orders.readOrder(subject.store.db, ACCOUNT, 'a')).toBeUndefined();
    });

    it.each(['sending', 'accepted', 'final', 'invalid', 'nonsense'])('cannot begin as %s', async (state) => {
      const sql = `insert into merchant_orders (external_order_id, state) values ('a', '${state}')`;
      expect(() => subject.run(sql)).toThrow('state is written by order-sync; leave it out');
      expect(await orders.readOrder(subject.store.db, ACCOUNT, 'a')).toBeUndefined();
    });

    it('needs an id, and an id that no other row of the account has', () => {
      insert('a');
      expect(() => subject.run(`insert into merchant_orders (asset) values ('1')`)).toThrow(/external_order_id/);
      expect(() => insert('a')).toThrow(TAKEN);
      subject.run(`insert into merchant_orders (account, external_order_id) values ('other', 'a')`);
    });

    it('has an id that differs by case, spaces and accents from all others', async () => {
      const ids = ['a', 'A', ' a', 'a ', 'á', 'a\u0301', 'a\n'];
      insert(...ids);
      for (const id of ids) expect((await read(id)).external_order_id).toBe(id);
      expect(await orders.countByState(subject.store.db, ACCOUNT, ['pending', 'invalid'])).toEqual(
        new Map([['pending', ids.length]]),
      );
    });

    it.each(['pending', 'invalid'] as const)('can be changed and deleted while it is %s', async (state) => {
      insert('a');
      if (state === 'invalid') await save({ tracking: trackingWith({ state }), events: [] });
      subject.run(`update merchant_orders set asset = '2', external_order_id = 'b'`);
      expect((await read('b')).asset).toBe('2');
      subject.run('delete from merchant_orders');
      expect(await orders.countByState(subject.store.db, ACCOUNT, ['pending', 'invalid'])).toEqual(new Map());
    });
  });

  describe(`an invalid row, on ${dialect}`, () => {
    const due = async () => (await read('a')).next_action_at;

    it.each(MERCHANT_COLUMNS.slice(2))('is due once its %s is corrected, and is checked again', async (column) => {
      await insertIn('a', 'invalid');
      subject.run(`update merchant_orders set ${column} = 'corrected'`);
      expect(await due()).toMatch(/Z$/);
      const decision = decideCorrected(trackingOf(await read('a')), NOW);
      expect(decision?.tracking.state).toBe('pending');
    });

    it('is not due when nothing of it has changed', async () => {
      await insertIn('a', 'invalid');
      subject.run(`update merchant_orders set asset = asset, bonus = null`);
      expect(await due()).toBeNull();
    });
  });

  describe(`what was sent, on ${dialect}`, () => {
    it.each(SENT_STATES)('cannot be changed, deleted or sent again by another program: %s', async (state) => {
      await insertIn('a', state);
      insert('b');
      const before = await read('a');
      for (const column of MERCHANT_COLUMNS) {
        expect(() => subject.run(`update merchant_orders set ${column} = 'x' where external_order_id = 'a'`)).toThrow(
          'this order was sent and cannot be changed any more',
        );
      }
      expect(() => subject.run(`delete from merchant_orders where external_order_id = 'a'`)).toThrow(
        'this order was sent and cannot be deleted',
      );
      expect(() =>
        subject.run(`update merchant_orders set external_order_id = 'a' where external_order_id = 'b'`),
      ).toThrow('this order was sent and cannot be replaced');
      expect(() => insert('a')).toThrow(TAKEN);
      expect(await read('a')).toEqual(before);
    });

    it.each(['unknown', 'accepted', 'open', 'final', 'cancelled', 'abandoned'] as const)(
      'does not become pending when a program saves the whole row that it read earlier: %s',
      async (state) => {
        await insertIn('a', state);
        expect(() => subject.run(`update merchant_orders set state = 'pending', asset = '1.5'`)).toThrow(
          'this order was sent and cannot be pending again',
        );
        expect((await read('a')).state).toBe(state);
      },
    );

    it('is as fixed while it waits to be sent again: it may be at the exchange', async () => {
      await insertIn('a', 'held');
      await save({
        tracking: trackingWith({ attempts: 1, resends: 1, stateReason: 'once more' }),
        events: [
          {
            field: 'state',
            oldValue: 'held',
            newValue: 'pending',
            exchangeTime: null,
            source: 'operator',
            reason: null,
          },
        ],
      });
      insert('b');
      const before = await read('a');
      const refused = 'this order was sent and cannot be';
      for (const column of MERCHANT_COLUMNS) {
        const update = `update merchant_orders set ${column} = 'x' where external_order_id = 'a'`;
        expect(() => subject.run(update)).toThrow(`${refused} changed any more`);
      }
      for (const [statement, what] of [
        [`delete from merchant_orders where external_order_id = 'a'`, 'deleted'],
        [`update merchant_orders set external_order_id = 'a' where external_order_id = 'b'`, 'replaced'],
        [
          `insert into merchant_orders (external_order_id, asset) values ('a', '2')
            on conflict (account, external_order_id) do update set asset = excluded.asset`,
          'changed any more',
        ],
        [
          `update merchant_orders set resends = 0, revision = revision + 1 where external_order_id = 'a'`,
          'taken for one that was not',
        ],
      ] as const) {
        expect(() => subject.run(statement)).toThrow(`${refused} ${what}`);
      }
      expect(await read('a')).toEqual(before);
    });

    it.each(['unknown', 'held'] as const)(
      'becomes pending again when it is sent once more on purpose: %s',
      async (state) => {
        await insertIn('a', state);
        const again = trackingWith({ attempts: 1, resends: 1, stateReason: 'once more' });
        await save({ tracking: again, events: [] });
        expect(await read('a')).toMatchObject({ state: 'pending', resends: 1 });
      },
    );

    it('is sent once when a program reads it pending and saves the whole row while it is sending', async () => {
      const columns = `state, state_reason, attempts, next_action_at, sent_at, updated_at`;
      for (const tracking of [
        trackingWith(),
        trackingWith({ externalOrderId: 'b', attempts: 1, stateReason: 'why' }),
      ]) {
        const { externalOrderId } = tracking;
        insert(externalOrderId);
        if (tracking.attempts > 0) {
          await save({ tracking: { ...tracking, state: 'sending' }, events: [] });
          await save({ tracking, events: [] });
        }
        subject.run(`create temp table read_before as select ${columns} from merchant_orders
          where external_order_id = '${externalOrderId}'`);
        const claimed = move(
          tracking,
          'sending',
          { source: 'create' },
          { attempts: tracking.attempts + 1, sentAt: NOW },
        );
        await save(claimed);
        for (const saved of [columns, 'state', 'state, next_action_at']) {
          expect(() =>
            subject.run(`update merchant_orders set (${saved}, asset) = (select ${saved}, '1.5' from read_before)
              where external_order_id = '${externalOrderId}'`),
          ).toThrow('this order was sent and cannot be pending again');
        }
        expect((await read(externalOrderId)).state).toBe('sending');
        subject.run('drop table read_before');
      }
    });

    it('goes back to pending when it was proved not taken', async () => {
      await insertIn('a', 'sending', { sentAt: NOW });
      const back = trackingWith({ attempts: 1, sentAt: NOW, stateReason: 'not sent', nextActionAt: NOW });
      await save({ tracking: back, events: [] });
      expect((await read('a')).state).toBe('pending');
    });

    it('makes the moves of the table and no other, whoever writes', async () => {
      for (const from of ORDER_STATES) {
        for (const to of [...ORDER_STATES, 'Pending', '']) {
          if (to === from) continue;
          const id = `${from} ${to}`;
          await insertIn(id, from, { attempts: 1 });
          const reopens = to === 'pending' ? `, state_reason = 'why', resends = resends + 1` : '';
          const claims =
            to === 'sending' || to === 'unknown' ? `, attempts = attempts + 1, sent_at = '${NOW.toISOString()}'` : '';
          const isTaken = [...ALLOWED_NEXT[from], ...ALSO_TAKEN].some((next) => next === to || next === id);
          const run = () =>
            subject.run(
              `update merchant_orders set state = '${to}', revision = revision + 1${reopens}${claims}
               where external_order_id = '${id}'`,
            );
          if (isTaken) run();
          else expect(run).toThrow('merchant_orders: ');
          expect([id, (await read(id)).state]).toEqual([id, isTaken ? to : from]);
        }
      }
    });

    it.each(Object.keys(OUR_COLUMNS))('has a column that changes only with the revision: %s', async (column) => {
      await insertIn('a', 'open');
      const before = await read('a');
      const value = column === 'state' ? `'final'` : column === 'revision' ? 'revision + 2' : `'7'`;
      for (const raised of ['', ', revision = revision', ', revision = revision - 1', ', revision = revision + 2']) {
        if (column === 'revision' && raised !== '') continue;
        expect(() => subject.run(`update merchant_orders set ${column} = ${value}${raised}`)).toThrow(
          'merchant_orders: ',
        );
      }
      expect(await read('a')).toEqual(before);
      if (column !== 'revision')
        subject.run(`update merchant_orders set ${column} = ${value}, revision = revision + 1`);
    });

    it('can be saved whole as it stands, and not as it stood before', async () => {
      await insertIn('a', 'open');
      const all = [...MERCHANT_COLUMNS, ...Object.keys(OUR_COLUMNS)].join(', ');
      const saveWhole = () =>
        subject.run(
          `update merchant_orders set (${all}) = (select ${all} from read_before where external_order_id = 'a')`,
        );
      subject.run('create temp table read_before as select * from merchant_orders');
      saveWhole();
      const now = trackingOf(await read('a'));
      await save({ tracking: { ...now, orderStatus: 'NEXT' }, events: [] });
      expect(saveWhole).toThrow('order-sync has changed this row');
      expect((await read('a')).order_status).toBe('NEXT');
    });
  });

  describe(`the history, on ${dialect}`, () => {
    it.each([`update events set new_value = 'x'`, `update events set id = 99`, 'delete from events'])(
      'refuses "%s" of any program',
      async (sql) => {
        await insertIn('a', 'sending');
        expect(() => subject.run(sql)).toThrow('events is append-only');
        expect(await events('a')).toEqual(['state pending → sending']);
      },
    );

    it('refuses a change also by this program', async () => {
      await insertIn('a', 'sending');
      const { writer } = subject.store;
      await expect(writer.write((tx) => tx.deleteFrom('events').execute())).rejects.toMatchObject({
        name: 'StoreError',
        problem: 'refused',
      });
      expect(await events('a')).toEqual(['state pending → sending']);
    });
  });

  describe(`what the exchange said, on ${dialect}`, () => {
    const kept = (body: string) => ({
      account: ACCOUNT,
      externalOrderId: 'a',
      body,
      receivedAt: NOW.toISOString(),
      comparedAt: NOW.toISOString(),
      ...NO_TURNS,
    });

    it('is kept as received, the newest only, the pre-order and the record each by itself', async () => {
      const { writer, db } = subject.store;
      const odd = ' {"asset": 12345678901234567.123456789012345678, "é": "\\u0000\u2028 \'"}\r\n';
      await writer.write((tx) => records.keepOrderRecord(tx, kept('{}')));
      await writer.write((tx) => records.keepOrderRecord(tx, kept(odd)));
      await writer.write(async (tx) => await keepPreOrder(tx, kept('{"pre":1}')));
      expect((await records.readRecord(db, ACCOUNT, 'a'))?.body).toBe(odd);
      expect(await readPreOrder(db, ACCOUNT, 'a')).toBe('{"pre":1}');
      expect(await readPreOrder(db, 'other', 'a')).toBeUndefined();
    });

    it('is kept and found again however long its ids are, and whatever characters an unreadable answer has', async () => {
      const { writer, db } = subject.store;
      const long = (name: string) => `${name} ${randomBytes(4_000).toString('hex')}`;
      const view = { orderId: long('order'), transactionHash: long('hash') } as RecordView;
      const search = { account: ACCOUNT, externalOrderId: 'b' };
      await insertIn('a', 'sending');
      const tracking = trackingOf(await read('a'));
      await save({ tracking: { ...tracking, state: 'accepted', preOrderId: long('pre-order') }, events: [] });
      const preOrderId = (await read('a')).pre_order_id ?? '';
      const answer = { operation: 'createPreOrder', subject: 'a', httpStatus: 200, receivedAt: '' } as const;
      const found = await writer.write(async (tx) => {
        await records.keepOrderRecord(tx, kept('{}'), view);
        await keepAnswer(tx, { ...answer, account: ACCOUNT, body: 'a\0b' });
        return [
          await records.orderWithField.orderId(tx, { ...search, value: view.orderId ?? '' }),
          await records.orderWithField.transactionHash(tx, { ...search, value: view.transactionHash ?? '' }),
          await records.orderWithField.transactionHash(tx, { ...search, value: `${view.transactionHash}x` }),
          await orders.orderWithPreOrder(tx, { ...search, preOrderId }),
        ];
      });
      expect(found).toEqual(['a', 'a', null, 'a']);
      expect(await db.selectFrom('kept_answers').select('body').execute()).toEqual([{ body: 'a\u2400b' }]);
    });

    it('is new the first time that a status is seen, by account and field', async () => {
      const isNew = (account: string, field: string, value: string) =>
        subject.store.writer.write(async (tx) => {
          const seen = { account, field, value, first_seen_at: NOW.toISOString() };
          return (await accounts.rememberStatuses(tx, [seen, seen])).length === 1;
        });
      expect(await isNew(ACCOUNT, 'order.status', 'ODD')).toBe(true);
      expect(await isNew(ACCOUNT, 'order.status', 'ODD')).toBe(false);
      expect(await isNew(ACCOUNT, 'order.status', 'odd')).toBe(true);
      expect(await isNew(ACCOUNT, 'fiatTransaction.status', 'ODD')).toBe(true);
      expect(await isNew('other', 'order.status', 'ODD')).toBe(true);
    });

    it('has the lease that its owner wrote last', async () => {
      const { writer, db } = subject.store;
      const limits = { intervalMs: 1_000, concurrency: 8, timeoutMs: 15_000 };
      const spent = [{ at: new Date(5), requests: 2 }];
      const lease = { until: NOW, boot: 'b', bootMs: 7, requests: 3, ...limits, spent };
      expect(await accounts.readLease(db, ACCOUNT)).toBeUndefined();
      await writer.write((tx) =>
        accounts.leaseRequests(tx, ACCOUNT, { ...lease, until: new Date(1_000), boot: null, spent: [] }),
      );
      await writer.write((tx) => accounts.leaseRequests(tx, ACCOUNT, lease));
      expect(await accounts.readLease(db, ACCOUNT)).toEqual(lease);
      expect(await accounts.readLease(db, 'other')).toBeUndefined();
    });
  });

  describe(`reading, on ${dialect}`, () => {
    it('lists the newest first, of one state or of all', async () => {
      for (const day of ['02', '03', '01']) {
        subject.run(
          `insert into merchant_orders (external_order_id, created_at) values ('${day}', '2026-01-${day}T00:00:00.000Z')`,
        );
      }
      await save(claim('02'));
      const ids = async (query: { state?: OrderState; limit: number }) =>
        (await listOrders(subject.store.db, { account: ACCOUNT, ...query })).rows.map((row) => row.external_order_id);
      expect(await ids({ limit: 2 })).toEqual(['03', '02']);
      expect(await ids({ limit: 9, state: 'pending' })).toEqual(['03', '01']);
    });
  });
}
