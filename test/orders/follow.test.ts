import type { SqliteStatement } from 'kysely';
import { describe, expect, it } from 'vitest';
import { createPass } from '../../src/orders/create.ts';
import { LOOKUP_SOURCES } from '../../src/orders/rules/schedule.ts';
import { followPass, lookUpDue } from '../../src/orders/follow.ts';
import { acceptedOrders, keptRecord, type TestProgram } from '../support/test-program.ts';
import { bodyOf, echo, NOT_FOUND, record, refusal } from '../support/scripted-exchange.ts';
import { DAY, SECOND } from '../support/tracking.ts';
import { unguarded } from '../support/unguarded.ts';
import { isSqlite, ofSqlite } from '../support/database.ts';

const NEVER = new AbortController().signal;
const AFTER_5_S = '2026-01-05T12:00:05.000Z';
const EARLIER = '2026-01-05T10:00:00.000Z';
const LATER = '2026-01-05T11:00:00.000Z';

describe('a record older than the one we have', () => {
  it('changes neither the row, the kept record nor the history, and is one finding that counts', async () => {
    const { program, answers, lookUp } = await acceptedOrders(['a']);
    const newest = record('a', { status: 'B', fiat: 'PAID', modificationDate: LATER });
    answers.set('a', newest);
    await lookUp();
    const before = program.events('a');
    const { status, fiat } = { status: program.row('a')['order_status'], fiat: program.row('a')['fiat_status'] };
    const dates = [EARLIER, EARLIER, '2026-01-05T10:30:00.000Z', '2026-01-05T10:30:00.000Z'];
    for (const modificationDate of dates) {
      answers.set('a', record('a', { status: 'A', modificationDate }));
      await lookUp();
    }
    expect(program.row('a')).toMatchObject({
      order_status: status,
      fiat_status: fiat,
      modification_date: LATER,
      state: 'open',
    });
    expect(keptRecord(program, 'a')).toBe(bodyOf(newest));
    expect(program.events('a')).toEqual(before);
    expect(program.merchant.prepare(`select class, actual from findings where class <> 'UNCHECKED'`).all()).toEqual([
      { class: 'REPLICAS_DISAGREE', actual: 'A, modified 2026-01-05T10:30:00.000Z (change 2)' },
    ]);
  });

  it('does not stop the newer one that comes after it', async () => {
    const { program, answers, lookUp } = await acceptedOrders(['a']);
    for (const [status, modificationDate] of [
      ['B', LATER],
      ['A', EARLIER],
      ['C', '2026-01-05T12:00:00Z'],
    ]) {
      answers.set('a', record('a', { status, modificationDate }));
      await lookUp();
    }
    expect(program.row('a')['order_status']).toBe('C');
    expect(keptRecord(program, 'a')).toBe(bodyOf(answers.get('a')));
  });

  it('is told when two passes look the same order up at once and the first answer comes last', async () => {
    const { program, exchange } = await acceptedOrders(['a']);
    const first = Promise.withResolvers<void>();
    let lookups = 0;
    exchange.answer = async () => {
      lookups += 1;
      if (lookups > 1) return record('a', { status: 'B', modificationDate: LATER });
      await first.promise;
      return record('a', { status: 'A', modificationDate: EARLIER });
    };
    program.clock.advance(DAY);
    const slow = followPass(program.app, 'all', NEVER);
    await followPass(program.app, 'all', NEVER);
    expect(program.row('a')['order_status']).toBe('B');
    first.resolve();
    await slow;
    expect(program.row('a')['order_status']).toBe('B');
    expect(program.events('a').filter((event) => event.startsWith('order.status'))).toEqual(['order.status null → B']);
  });
});

describe('an answer that was asked for before the last one came', () => {
  it('is dropped: nothing in it says which of the two is newer', async () => {
    const { program, exchange } = await acceptedOrders(['a']);
    const first = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    exchange.answer = async () => {
      asked.resolve();
      await first.promise;
      return record('a', { status: 'A' });
    };
    program.clock.advance(DAY);
    const slow = followPass(program.app, 'all', NEVER);
    await asked.promise;
    program.clock.advance(1_000);
    exchange.answer = () => record('a', { status: 'B' });
    await followPass(program.app, 'all', NEVER);
    first.resolve();
    await slow;
    expect(program.row('a')['order_status']).toBe('B');
    expect(program.events('a').filter((event) => event.startsWith('order.status'))).toEqual(['order.status null → B']);
  });

  it.each([
    ['a newer date', LATER, 'A'],
    ['an older date', EARLIER, 'B'],
    ['the same date', '2026-01-05T10:30:00.000Z', 'B'],
  ])('decides with %s than the record that came before it: the newer one is kept', async (_name, date, status) => {
    const { program, exchange } = await acceptedOrders(['a']);
    const first = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    exchange.answer = async () => {
      asked.resolve();
      await first.promise;
      return record('a', { status: 'A', modificationDate: date });
    };
    program.clock.advance(DAY);
    const slow = followPass(program.app, 'all', NEVER);
    await asked.promise;
    program.clock.advance(1_000);
    exchange.answer = () => record('a', { status: 'B', modificationDate: '2026-01-05T10:30:00.000Z' });
    await followPass(program.app, 'all', NEVER);
    first.resolve();
    await slow;
    expect(program.row('a')['order_status']).toBe(status);
    expect(keptRecord(program, 'a')).toContain(`"status":"${status}"`);
    expect(program.merchant.prepare('select count(*) from findings').pluck().get()).toBe(0);
  });

  it('decides if the one that came before it found no order', async () => {
    const { program, exchange } = await acceptedOrders(['a']);
    const first = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    exchange.answer = async () => {
      asked.resolve();
      await first.promise;
      return record('a', { status: 'A' });
    };
    program.clock.advance(DAY);
    const slow = followPass(program.app, 'all', NEVER);
    await asked.promise;
    program.clock.advance(1_000);
    exchange.answer = () => NOT_FOUND;
    await followPass(program.app, 'all', NEVER);
    first.resolve();
    await slow;
    expect(program.row('a')).toMatchObject({ state: 'open', order_status: 'A' });
  });

  it('is not told by a look-up that was recorded under a clock ahead of this one', async () => {
    const { program, answers } = await acceptedOrders(['a']);
    unguarded(program.merchant, () =>
      program.merchant.exec(
        `update merchant_orders set revision = revision + 1, last_lookup_at = '2027-01-01T00:00:00.000Z'`,
      ),
    );
    answers.set('a', record('a', { status: 'A' }));
    program.clock.advance(DAY);
    await followPass(program.app, 'due', NEVER);
    expect(program.row('a')['order_status']).toBe('A');
  });
});

describe('two passes that bring the same news', () => {
  it('record each change once', async () => {
    const { program, exchange } = await acceptedOrders(['a']);
    const both = Promise.withResolvers<void>();
    exchange.answer = async () => {
      if (exchange.count('GET') === 2) both.resolve();
      await both.promise;
      return record('a', { status: 'B' });
    };
    program.clock.advance(DAY);
    await Promise.all([followPass(program.app, 'all', NEVER), followPass(program.app, 'due', NEVER)]);
    expect(exchange.count('GET')).toBe(2);
    expect(program.events('a').slice(2)).toEqual([
      'order.status null → B',
      'cryptoTransaction.status null → NEW',
      'fiatTransaction.status null → NEW',
      'state accepted → open',
    ]);
  });
});

describe('the log of a look-up', () => {
  it('has one line for all changes, and none if nothing changed', async () => {
    const { program, answers, lookUp } = await acceptedOrders(['a']);
    const changes = () => program.log.with('order changed').map(({ time: _time, msg: _msg, ...line }) => line);
    answers.set('a', record('a'));
    await lookUp();
    await lookUp();
    answers.set('a', record('a', { fiat: 'PAID' }));
    await lookUp();
    expect(changes()).toEqual([
      {
        level: 'info',
        externalOrderId: 'a',
        state: 'accepted → open',
        'order.status': 'REQUEST',
        'cryptoTransaction.status': 'NEW',
        'fiatTransaction.status': 'NEW',
      },
      { level: 'info', externalOrderId: 'a', 'fiatTransaction.status': 'NEW → PAID' },
    ]);
  });
});

describe('a status that was not seen before', () => {
  /** The statuses of the lines that name new ones. */
  const said = async ({ app, clock, log }: TestProgram) => {
    clock.advance(10 * SECOND);
    await app.eachSecond();
    return log.with(/were not seen before/).map(({ level, count, statuses }) => [level, count, statuses]);
  };

  it('is recorded verbatim, named once in a line for all that are new, and followed on', async () => {
    const { program, answers, lookUp } = await acceptedOrders(['a', 'b']);
    const strange = ' Ünseen \u202E"status"\n';
    for (const id of ['a', 'b']) answers.set(id, record(id, { status: strange, crypto: strange }));
    await lookUp();
    await lookUp();
    const both = ['info', 2, [`order.status ${strange}`, `cryptoTransaction.status ${strange}`]];
    expect(await said(program)).toEqual([both]);
    expect(program.row('b')).toMatchObject({ state: 'open', order_status: strange, crypto_status: strange });
    answers.set('b', record('b', { status: 'NEXT' }));
    await lookUp();
    expect(program.events('b')).toContain(`order.status ${strange} → NEXT`);
    expect(await said(program)).toEqual([both, ['info', 1, ['order.status NEXT']]]);
    expect(program.log.lines.filter(({ level }) => level === 'warn')).toEqual([]);
    expect(program.log.with(/not seen before.*follow\.openStatuses/)).toHaveLength(2);
    answers.set('b', record('b', { status: 'NEXT', crypto: 'CONFIRMED' }));
    await lookUp();
    expect((await said(program)).at(-1)).toEqual(['info', 1, ['cryptoTransaction.status CONFIRMED']]);
    expect(program.log.with(/follow\.openStatuses/)).toHaveLength(2);
  });

  it('is reported once also across restarts, and one that is documented or in the settings never', async () => {
    const environment = {
      ORDER_SYNC_FOLLOW_OPEN_STATUSES: 'WAITS',
      ORDER_SYNC_FOLLOW_FINAL_STATUSES: 'LOST,PAID',
      ORDER_SYNC_FOLLOW_SUCCEEDED_STATUSES: 'GAINED',
    };
    const { program, answers, lookUp } = await acceptedOrders(['a', 'b'], { environment });
    for (const status of ['WAITS', 'GAINED', 'LOST', 'REQUEST']) {
      answers.set('a', record('a', { status, fiat: 'OTHER' }));
      await lookUp();
    }
    await program.restart();
    answers.set('b', record('b', { status: 'REQUEST', fiat: 'OTHER' }));
    await lookUp();
    expect(await said(program)).toEqual([['info', 1, ['fiatTransaction.status OTHER']]]);
  });
});

describe('the settings of what is final', () => {
  const done = { completionDate: EARLIER, serverDate: LATER };

  it.each<[string, Record<string, string>, Record<string, unknown>, string]>([
    ['completionDate has passed', {}, { status: 'ANY', ...done }, 'final'],
    ['completionDate is to come', {}, { status: 'ANY', completionDate: LATER, serverDate: EARLIER }, 'open'],
    ['completionDate is missing', {}, { status: 'ANY', serverDate: LATER }, 'open'],
    ['completionDate is null', {}, { status: 'ANY', completionDate: null, serverDate: LATER }, 'open'],
    ['completionDate cannot be read', {}, { status: 'ANY', completionDate: '<timestamp>', serverDate: LATER }, 'open'],
    ['serverDate is missing', {}, { status: 'ANY', completionDate: EARLIER }, 'open'],
    ['an open status has every date', {}, { status: 'REQUEST', ...done }, 'open'],
    ['another status is open', { ORDER_SYNC_FOLLOW_OPEN_STATUSES: 'ANY' }, { status: 'ANY', ...done }, 'open'],
    ['no status is open', { ORDER_SYNC_FOLLOW_OPEN_STATUSES: '' }, { status: 'REQUEST', ...done }, 'final'],
    ['a final status has no date', { ORDER_SYNC_FOLLOW_FINAL_STATUSES: 'PAID,VOID' }, { status: 'VOID' }, 'final'],
    ['a final status in small letters', { ORDER_SYNC_FOLLOW_FINAL_STATUSES: 'PAID,VOID' }, { status: 'void' }, 'open'],
  ])('%s', async (_name, environment, fields, state) => {
    const { program, answers, lookUp } = await acceptedOrders(['a'], { environment });
    answers.set('a', record('a', fields));
    await lookUp();
    expect(program.row('a')['state']).toBe(state);
  });
});

describe('a record', () => {
  it('is kept byte for byte, what is unknown in it too', async () => {
    const { program, answers, lookUp } = await acceptedOrders(['a']);
    const body = `{ "externalOrderId":"a","more":12345678901234567.123456789012345678,\n"order":{"id":"o1","status":"S","x":[1e400]}}`;
    answers.set('a', { status: 200, body });
    await lookUp();
    expect(keptRecord(program, 'a')).toBe(body);
    expect(program.row('a')).toMatchObject({ state: 'open', order_status: 'S', crypto_status: null });
  });
});

describe('a record that says the same as the one before', () => {
  it('is not written again: only the look-up leaves a trace in the row', async () => {
    const { program, answers, lookUp } = await acceptedOrders(['a']);
    answers.set('a', record('a', { serverDate: EARLIER }));
    await lookUp();
    const stored = () => program.merchant.prepare('select * from order_records').all();
    const [row, records] = [program.row('a'), stored()];
    answers.set('a', record('a', { serverDate: LATER }));
    await lookUp();
    expect(stored()).toEqual(records);
    const { last_lookup_at, next_action_at, revision, ...rest } = program.row('a');
    expect(row).toMatchObject(rest);
    expect(last_lookup_at).toBe(program.clock.now().toISOString());
    expect([String(next_action_at) > String(row['next_action_at']), revision]).toEqual([
      true,
      Number(row['revision']) + 1,
    ]);
  });
});

describe('the follow pass', () => {
  it('looks each of many orders up once, page after page', async () => {
    const ids = Array.from({ length: 450 }, (_, index) => `o${index}`);
    const { program, exchange, lookUp } = await acceptedOrders(ids);
    program.clock.advance(DAY);
    await followPass(program.app, 'due', NEVER);
    expect(exchange.count('GET')).toBe(450);
    await followPass(program.app, 'due', NEVER);
    expect(exchange.count('GET')).toBe(450);
    await lookUp();
    expect(new Set(exchange.requests.map(({ externalOrderId }) => externalOrderId)).size).toBe(450);
    expect(exchange.count('GET')).toBe(900);
  });

  it('comes to an outcome that turns unknown meanwhile before it ends, looks each order up once, and ends', async () => {
    const ids = Array.from({ length: 900 }, (_, index) => `o${index}`);
    const { program, exchange } = await acceptedOrders(ids);
    program.clock.advance(DAY);
    const lookedUp: string[] = [];
    exchange.answer = async ({ method, externalOrderId }) => {
      if (method === 'POST') return refusal(500);
      lookedUp.push(externalOrderId);
      if (lookedUp.length === 10) {
        program.insert({ external_order_id: 'u' });
        await createPass(program.app, NEVER);
        // Now the unknown outcome is due, and each order that was looked up is due again.
        program.clock.advance(10_000);
      }
      return NOT_FOUND;
    };
    await followPass(program.app, 'due', NEVER);
    expect(lookedUp.toSorted()).toEqual([...ids, 'u'].toSorted());
    expect(lookedUp.indexOf('u')).toBeLessThan(400);
  });

  it('comes to an open order and to one that was just accepted within a round, whatever is due before them', async () => {
    const { program, exchange } = await acceptedOrders([]);
    const backlog = Array.from({ length: 2_000 }, (_, index) => ({ external_order_id: `o${index}` }));
    program.insert(...backlog, { external_order_id: 'open' });
    unguarded(program.merchant, () =>
      program.merchant.exec(
        `update merchant_orders set revision = revision + 1, state = 'accepted', last_lookup_at = '${EARLIER}';
         update merchant_orders set revision = revision + 1, state = 'open', next_action_at = '${AFTER_5_S}'
         where external_order_id = 'open'`,
      ),
    );
    let until = program.clock.now();
    let before = 0;
    const lookedUp: string[] = [];
    exchange.answer = async (request) => {
      if (request.method === 'POST') return echo(request);
      lookedUp.push(request.externalOrderId);
      if (lookedUp.length === 100) {
        program.insert({ external_order_id: 'new' });
        await createPass(program.app, NEVER);
        program.clock.advance(5_000);
        until = program.clock.now();
        before = lookedUp.length;
      }
      return NOT_FOUND;
    };
    await lookUpDue(program.app, () => until, NEVER);
    expect(new Set(lookedUp).size).toBe(2_002);
    // A round that was read before, and what was in flight.
    const most = before + 32 + program.app.settings.concurrency;
    expect(lookedUp.indexOf('open')).toBeLessThan(most);
    expect(lookedUp.indexOf('new')).toBeLessThan(most);
  });

  it('comes to a new order within a round if many have been due for weeks that were never looked up either', async () => {
    const environment = { ORDER_SYNC_FOLLOW_FINAL_STATUSES: 'DONE' };
    const { program, exchange } = await acceptedOrders([], { environment });
    const backlog = Array.from({ length: 500 }, (_, index) => ({ external_order_id: `o${index}` }));
    program.insert(...backlog, { external_order_id: 'late' });
    unguarded(program.merchant, () =>
      program.merchant.exec(
        `update merchant_orders set revision = revision + 1, state = 'accepted', next_action_at =
           case external_order_id when 'late' then '${LATER}' else '2025-12-08T12:00:00.000Z' end`,
      ),
    );
    const lookedUp: string[] = [];
    let before = 0;
    exchange.answer = async (request) => {
      if (request.method === 'POST') return echo(request);
      lookedUp.push(request.externalOrderId);
      if (lookedUp.length === 100) {
        program.insert({ external_order_id: 'new' });
        await createPass(program.app, NEVER);
        before = lookedUp.length;
      }
      return record(request.externalOrderId, { status: 'DONE' });
    };
    await lookUpDue(program.app, () => new Date(AFTER_5_S), NEVER);
    expect(lookedUp.toSorted()).toEqual([...backlog.map((one) => one.external_order_id), 'late', 'new'].toSorted());
    expect(lookedUp.indexOf('late')).toBeLessThan(32);
    expect(lookedUp.indexOf('new')).toBeLessThan(before + 32 + program.app.settings.concurrency);
  });

  it('looks each of many up once if none was looked up before, beside the older ones', async () => {
    const ids = Array.from({ length: 900 }, (_, index) => `o${index}`);
    const { program, exchange } = await acceptedOrders(ids);
    unguarded(program.merchant, () =>
      program.merchant.exec(
        `update merchant_orders set revision = revision + 1, last_lookup_at = '${EARLIER}' where external_order_id > 'o5'`,
      ),
    );
    program.clock.advance(DAY);
    await followPass(program.app, 'due', NEVER);
    expect(exchange.count('GET')).toBe(900);
    await followPass(program.app, 'due', NEVER);
    expect(exchange.count('GET')).toBe(900);
  });

  it(
    'reads what is due by ranges of an index alone, however many orders there are',
    ofSqlite('its plans'),
    async () => {
      const texts = new Set<string>();
      const wrap = (text: string, statement: SqliteStatement): SqliteStatement => {
        if (text.includes('"isNew"')) texts.add(text);
        return statement;
      };
      const { program } = await acceptedOrders(['a'], { overrides: { store: { wrap } } });
      await followPass(program.app, 'due', NEVER);
      const [text = ''] = texts;
      const plan = () =>
        program.merchant
          .prepare(`explain query plan ${text}`)
          .all(...Array.from({ length: text.split('?').length - 1 }, () => 1))
          .map((row) => (row as { detail: string }).detail)
          .filter((detail) => detail.includes('merchant_orders'));
      const never = plan().filter((detail) => detail.includes('merchant_orders_never_looked_up'));
      expect(never).toHaveLength(2);
      const plans = [plan()];
      program.merchant.exec(`analyze; update sqlite_stat1 set stat = '5000000 5000000 500000 2 1'
      where idx = 'merchant_orders_due'; analyze sqlite_schema`);
      plans.push(plan());
      for (const details of plans) {
        expect(details).toHaveLength(LOOKUP_SOURCES.length);
        for (const detail of details) expect(detail).toMatch(/^SEARCH .* INDEX .*account=\? AND .*next_action_at/);
      }
    },
  );

  it('stops when the exchange fails, and continues with all that is due when it is back', async () => {
    const ids = Array.from({ length: 100 }, (_, index) => `o${index}`);
    const { program, exchange, answers } = await acceptedOrders(ids);
    for (const id of ids) answers.set(id, refusal(503));
    program.clock.advance(DAY);
    await followPass(program.app, 'due', NEVER);
    expect(exchange.count('GET')).toBeLessThanOrEqual(program.config.exchange.concurrency + 2);
    for (const id of ids) answers.set(id, record(id));
    program.clock.advance(DAY);
    await followPass(program.app, 'due', NEVER);
    expect(program.merchant.prepare(`select count(*) from merchant_orders where state = 'open'`).pluck().get()).toBe(
      100,
    );
  });

  it('does not read through what is due while nothing listens', async () => {
    let pages = 0;
    const wrap = (text: string, statement: SqliteStatement): SqliteStatement => {
      if (!/next_action_at"? <= /.test(text)) return statement;
      const all = (parameters: readonly unknown[]) => {
        pages += 1;
        return statement.all(parameters);
      };
      return { reader: true, all, run: (parameters) => statement.run(parameters), iterate: () => [].values() };
    };
    const { program, exchange } = await acceptedOrders([], { overrides: { store: { wrap } } });
    program.insert(...Array.from({ length: 2_000 }, (_, index) => ({ external_order_id: `o${index}` })));
    unguarded(program.merchant, () =>
      program.merchant.exec(`update merchant_orders set revision = revision + 1, state = 'accepted'`),
    );
    await exchange[Symbol.asyncDispose]();
    pages = 0;
    await followPass(program.app, 'due', NEVER);
    // Statements of PostgreSQL are not wrapped.
    if (isSqlite()) expect(pages).toBeGreaterThan(0);
    expect(pages).toBeLessThanOrEqual(3);
  });

  it('passes over an order that the database does not let it write, and looks up the others', async () => {
    const { program } = await acceptedOrders(['a', 'bad', 'c']);
    program.merchant.exec(`create trigger of_the_merchant before update of last_lookup_at on merchant_orders
      when new.external_order_id = 'bad' begin select raise(abort, 'not now'); end`);
    program.clock.advance(DAY);
    await followPass(program.app, 'due', NEVER);
    expect(program.app.observers.counters.failed).toBe(1);
    const due = program.merchant
      .prepare('select external_order_id from merchant_orders where next_action_at <= ?')
      .pluck();
    expect(due.all(program.clock.now().toISOString())).toEqual([]);
  });

  it(
    'ends and blames no order if facts about the account cannot be read, and looks up in the next pass',
    ofSqlite('its statements'),
    async () => {
      const failing = { isOn: false };
      const wrap = (text: string, statement: SqliteStatement): SqliteStatement => {
        const all = statement.all.bind(statement);
        return Object.assign(statement, {
          all: (parameters: readonly unknown[]) => {
            const fails = failing.isOn && text.includes('from seen_statuses');
            if (fails) throw Object.assign(new Error('odd'), { code: 'SQLITE_ODD' });
            return all(parameters);
          },
        });
      };
      const { program, exchange } = await acceptedOrders(['a', 'b'], { overrides: { store: { wrap } } });
      program.clock.advance(DAY);
      failing.isOn = true;
      await expect(followPass(program.app, 'due', NEVER)).rejects.toThrow('odd');
      expect([program.app.observers.counters.failed, exchange.count('GET')]).toEqual([0, 0]);
      failing.isOn = false;
      await followPass(program.app, 'due', NEVER);
      expect(exchange.count('GET')).toBe(2);
    },
  );

  it('writes the columns alone that change', async () => {
    const { program, answers, lookUp } = await acceptedOrders(['a']);
    answers.set('a', record('a', { status: 'PROCESSING' }));
    await lookUp();
    program.merchant.exec(`create trigger of_the_merchant before update of state, order_id, order_status, sent_at
      on merchant_orders begin select raise(abort, 'nothing of this has changed'); end`);
    await lookUp();
    expect(program.app.observers.counters.failed).toBe(0);
    expect(program.row('a')).toMatchObject({ last_lookup_at: program.clock.now().toISOString() });
  });

  it('does nothing once its signal has aborted', async () => {
    const { program, exchange } = await acceptedOrders(['a']);
    program.clock.advance(DAY);
    await followPass(program.app, 'all', AbortSignal.abort());
    expect(exchange.count('GET')).toBe(0);
  });

  it('looks up no order that must not be followed', async () => {
    const { program, exchange } = await acceptedOrders(['a', 'b']);
    program.insert({ external_order_id: 'p' }, { external_order_id: 'bad', asset: '0' });
    unguarded(program.merchant, () => {
      program.merchant.exec(
        `update merchant_orders set revision = revision + 1, state = 'rejected', next_action_at = null where external_order_id = 'a'`,
      );
      program.merchant.exec(
        `update merchant_orders set revision = revision + 1, state = 'final', next_action_at = null where external_order_id = 'b'`,
      );
    });
    program.clock.advance(DAY);
    await followPass(program.app, 'all', NEVER);
    expect(exchange.count('GET')).toBe(0);
  });
});
