import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPass } from '../../src/orders/create.ts';
import { followPass } from '../../src/orders/follow.ts';
import { sweep } from '../../src/extensions/sweep/sweep.ts';
import { capturedLog } from '../support/captured-log.ts';
import { acceptedOrders, scriptedProgram, type TestProgram, type TestProgramOptions } from '../support/test-program.ts';
import { echo, NOT_FOUND, record, refusal, type ScriptedAnswer } from '../support/scripted-exchange.ts';
import { DAY, SECOND } from '../support/tracking.ts';
import { unguarded } from '../support/unguarded.ts';
import { storable } from '../../src/base/text.ts';
import { ofSqlite } from '../support/database.ts';
import { acknowledge } from '../../src/extensions/operate/tables/findings.ts';

const NEVER = new AbortController().signal;
const COMPLETED = { status: 'DONE', completionDate: '2026-01-05T12:00:00Z', serverDate: '2026-01-05T12:00:00Z' };
const PAIR = { fromCurrency: 'BTC', toCurrency: 'EUR' };

interface FindingRow {
  readonly id: number;
  readonly class: string;
  readonly status: string;
  readonly expected: string | null;
  readonly actual: string | null;
  readonly first_seen_at: string;
  readonly last_seen_at: string;
  readonly resolved_at: string | null;
  readonly changed_by: string | null;
  readonly reason: string | null;
}

function rows({ merchant }: TestProgram, id = 'a'): FindingRow[] {
  const select = merchant.prepare('select * from findings where external_order_id = ? order by id');
  return select.all(id) as FindingRow[];
}

/** `CLASS status` of each finding of an order. */
const findings = (program: TestProgram, id = 'a') => rows(program, id).map((row) => `${row.class} ${row.status}`);

/** Accepted orders, and what the exchange shows of them. */
async function accepted(ids: readonly string[] = ['a'], options: TestProgramOptions = {}) {
  const { program, exchange, answers, lookUp } = await acceptedOrders(ids, options);
  return {
    program,
    exchange,
    /** Looks every followed order up after the answers were set. */
    shows: async (given: Readonly<Record<string, ScriptedAnswer>> = {}) => {
      for (const [id, answer] of Object.entries(given)) answers.set(id, answer);
      await lookUp(SECOND);
    },
  };
}

/** A record of another input amount than the row's 1.5. */
const wrong = (inputAsset: number, more: Readonly<Record<string, unknown>> = {}) =>
  record('a', { exchangeOperation: { currencyPair: PAIR, inputAsset }, ...more });

function withBody(answer: ScriptedAnswer, change: (body: Record<string, unknown>) => unknown): ScriptedAnswer {
  const { body } = answer as { body: string };
  return { status: 200, body: JSON.stringify(change(JSON.parse(body) as Record<string, unknown>)) };
}

describe('a finding', () => {
  it('is recorded in the transaction that stores the record, with both values', async () => {
    const { program, shows } = await accepted();
    await shows({ a: wrong(1.6) });
    expect(rows(program)).toMatchObject([
      { class: 'AMOUNT_MISMATCH', severity: 'error', expected: '1.5', actual: '1.6', status: 'open' },
    ]);
    expect(program.merchant.prepare('select input_asset from order_records').pluck().all()).toEqual(['1.6']);
  });

  it('is logged once, without its values', async () => {
    const { program, shows } = await accepted(['a']);
    const { log } = program;
    await shows({ a: wrong(1.6) });
    await shows({ a: wrong(1.6, { status: 'NEXT' }) });
    const lines = log.with('an order has new findings');
    expect(lines).toMatchObject([{ level: 'warn', externalOrderId: 'a', findings: ['AMOUNT_MISMATCH'] }]);
    const withoutTime = lines.map((line) => ({ ...line, time: '' }));
    expect(JSON.stringify(withoutTime)).not.toContain('1.6');
  });

  it('resolves itself when it is no longer true, and opens again when it comes back', async () => {
    const { program, shows } = await accepted();
    await shows({ a: wrong(1.6) });
    const [first] = rows(program);
    await shows({ a: record('a') });
    const [resolved] = rows(program);
    expect(resolved).toMatchObject({ status: 'resolved', resolved_at: program.clock.now().toISOString() });
    await shows({ a: wrong(1.7) });
    expect(rows(program)).toMatchObject([
      { id: first?.id, status: 'open', actual: '1.7', resolved_at: null, first_seen_at: first?.first_seen_at },
    ]);
  });

  it('stays acknowledged until it is no longer true, or worse', async () => {
    const { program, shows } = await accepted();
    await shows({ a: wrong(1.6) });
    await acknowledgeAll(program);
    await shows({ a: wrong(1.6, { status: 'NEXT' }) });
    expect(rows(program)).toMatchObject([{ status: 'acknowledged', changed_by: 'ann', reason: 'known' }]);
    await shows({ a: wrong(99, { status: 'LAST' }) });
    expect(rows(program)).toMatchObject([{ status: 'open', actual: '99', changed_by: null, reason: null }]);
    await acknowledgeAll(program);
    await shows({ a: record('a') });
    expect(findings(program)).toEqual(['AMOUNT_MISMATCH resolved']);
  });

  it('of what happened stays acknowledged while nothing more happens', async () => {
    const { program, shows } = await accepted();
    await shows({ a: record('a', { modificationDate: '2026-01-05T11:00:00Z' }) });
    await shows({ a: record('a', { id: 'o2', modificationDate: '2026-01-05T09:00:00Z' }) });
    await acknowledgeAll(program);
    await shows({ a: record('a', { id: 'o2', modificationDate: '2026-01-05T09:00:00Z' }) });
    expect(new Set(rows(program).map((row) => row.status))).toEqual(new Set(['acknowledged']));
  });

  it('of what happened stays acknowledged when the record that is kept is compared once more', async () => {
    const { program, exchange } = await scriptedProgram();
    program.insert({ external_order_id: 'a' });
    program.merchant.exec(`update merchant_orders set revision = revision + 1, state = 'cancelled'`);
    exchange.answer = () => record('a');
    await followPass(program.app, 'all', NEVER);
    await acknowledgeAll(program);
    program.merchant.exec('update order_records set compared_at = null');
    await sweep(program.app, NEVER);
    expect(findings(program)).toEqual(['UNEXPECTED_ORDER acknowledged']);
  });

  it('has values that are cut if they are long and still differ from each other', async () => {
    const { program, shows } = await accepted();
    const long = (end: string) => record('a', { id: `${'x'.repeat(100_000)}${end}` });
    await shows({ a: record('a') });
    for (const end of ['1', '2', '1']) await shows({ a: long(end) });
    const values = rows(program).flatMap((row) => [row.expected ?? '', row.actual ?? '']);
    expect(new Set(values).size).toBe(3);
    for (const value of values) expect(value.length).toBeLessThan(340);
  });

  it('is marked as seen each time a record shows it', async () => {
    const { program, shows } = await accepted();
    await shows({ a: wrong(1.6) });
    await shows({ a: wrong(1.6, { status: 'NEXT' }) });
    const [row] = rows(program);
    expect(row?.last_seen_at).toBe(program.clock.now().toISOString());
    expect(row?.first_seen_at).not.toBe(row?.last_seen_at);
  });

  it('compares digits that no double holds', async () => {
    const { program, exchange } = await scriptedProgram();
    const asset = '12345678901234567890.123456789012345678901234567890';
    const text = `{"externalOrderId":"ID","order":{"id":"o1","status":"REQUEST",
      "exchangeOperation":{"currencyPair":{"fromCurrency":"BTC","toCurrency":"EUR"},"inputAsset":${asset}}}}`;
    exchange.answer = ({ method, externalOrderId, body }) => {
      if (method === 'POST') return { status: 200, body: `{"id":"p-${externalOrderId}",${body.slice(1)}` };
      const shown = text.replace('ID', externalOrderId).replace('o1', `o-${externalOrderId}`);
      return { status: 200, body: externalOrderId === 'same' ? shown : shown.replace('7890}', '7891}') };
    };
    program.insert({ external_order_id: 'same', asset }, { external_order_id: 'off', asset });
    await createPass(program.app, NEVER);
    await followPass(program.app, 'all', NEVER);
    expect([findings(program, 'same'), findings(program, 'off')]).toEqual([[], ['AMOUNT_MISMATCH open']]);
    expect(program.merchant.prepare('select distinct asset from merchant_orders').pluck().all()).toEqual([asset]);
  });
});

describe('what a create shows', () => {
  it('is a pre-order that differs from the order', async () => {
    const { program, exchange } = await scriptedProgram();
    exchange.answer = (request) => echo(request, { asset: 1.6 });
    program.insert({ external_order_id: 'a' });
    await createPass(program.app, NEVER);
    expect(rows(program)).toMatchObject([
      { class: 'PREORDER_ECHO_MISMATCH', expected: 'asset 1.5', actual: 'asset 1.6', status: 'open' },
    ]);
    expect(program.events('a')).toContain('finding null → PREORDER_ECHO_MISMATCH');
  });

  it('is an unknown outcome, until the order is found', async () => {
    const { program, exchange } = await scriptedProgram();
    exchange.answer = ({ method }) => (method === 'POST' ? 'reset' : record('a'));
    program.insert({ external_order_id: 'a' });
    await createPass(program.app, NEVER);
    expect(findings(program)).toEqual(['CREATE_UNKNOWN open']);
    await followPass(program.app, 'all', NEVER);
    expect([program.row('a')['state'], findings(program)]).toEqual(['open', ['CREATE_UNKNOWN resolved']]);
  });

  it('is an outcome that a crash left unknown', async () => {
    const { program } = await scriptedProgram();
    program.insert({ external_order_id: 'a' });
    await program.app[Symbol.asyncDispose]();
    program.merchant.exec(
      `update merchant_orders set revision = revision + 1, state = 'sending', attempts = 1, next_action_at = null`,
    );
    await program.restart();
    expect(findings(program)).toEqual(['CREATE_UNKNOWN open']);
  });
});

describe('what a look-up shows without a new record', () => {
  it('is an order that has vanished, until it is found again', async () => {
    const { program, shows } = await accepted();
    await shows({ a: record('a') });
    await shows({ a: NOT_FOUND });
    await shows({ a: NOT_FOUND });
    expect(findings(program)).toEqual(['ORDER_VANISHED open']);
    // The record says the same as the one that is kept.
    await shows({ a: record('a') });
    expect(findings(program)).toEqual(['ORDER_VANISHED resolved']);
  });

  it('is an answer that says nothing of an order that was there: it is not fresh, and is no longer checked', async () => {
    const { program, shows } = await accepted();
    await shows({ a: record('a') });
    const { last_lookup_at: found } = program.row('a');
    await shows({ a: { status: 204 } });
    expect(findings(program)).toEqual(['ORDER_VANISHED open']);
    expect(program.row('a')).toMatchObject({ state: 'open', last_lookup_at: found });
    program.clock.advance(DAY);
    await shows();
    expect(findings(program)).toEqual(['ORDER_VANISHED open', 'UNCHECKED open']);
    await shows({ a: record('a') });
    expect(findings(program)).toEqual(['ORDER_VANISHED resolved', 'UNCHECKED resolved']);
  });

  it('is no order if the pre-order has none yet', async () => {
    const { program, shows } = await accepted();
    await shows({ a: NOT_FOUND });
    expect(findings(program)).toEqual([]);
  });

  it('is an answer about another order, until the right one comes', async () => {
    const { program, shows } = await accepted();
    await shows({ a: record('b') });
    expect(rows(program)).toMatchObject([{ class: 'IDENTITY_MISMATCH', expected: 'a', actual: 'b' }]);
    await shows({ a: refusal(500) });
    expect(findings(program)).toEqual(['IDENTITY_MISMATCH open']);
    await shows({ a: NOT_FOUND });
    expect(findings(program)).toEqual(['IDENTITY_MISMATCH resolved']);
  });

  it('is a record that is older than the one we have, and whose order it is', async () => {
    const { program, shows } = await accepted();
    await shows({ a: record('a', { modificationDate: '2026-01-05T11:00:00Z' }) });
    await shows({ a: record('a', { modificationDate: '2026-01-05T10:00:00Z' }) });
    await shows({ a: record('a', { modificationDate: '2026-01-05T10:00:00Z' }) });
    expect(rows(program)).toMatchObject([
      {
        class: 'UNCHECKED',
        actual: 'the exchange answers with a record that contradicts ours, of 2026-01-05T10:00:00Z',
      },
      {
        class: 'REPLICAS_DISAGREE',
        expected: 'REQUEST, modified 2026-01-05T11:00:00Z',
        actual: 'REQUEST, modified 2026-01-05T10:00:00Z',
      },
    ]);
    await shows({ a: record('a', { id: 'o2', modificationDate: '2026-01-05T09:00:00Z' }) });
    expect(findings(program).toSorted()).toEqual(['ORDER_REPLACED open', 'REPLICAS_DISAGREE open', 'UNCHECKED open']);
    await sweep(program.app, NEVER);
    expect(findings(program)).toContain('UNCHECKED open');
    await shows({ a: record('a', { modificationDate: '2026-01-05T11:00:00Z' }) });
    expect(findings(program)).toContain('UNCHECKED resolved');
    expect(program.row('a')['stale_date']).toBeNull();
  });

  it('is nothing when there is no answer', async () => {
    const { program, shows } = await accepted();
    await shows({ a: refusal(503) });
    await shows({ a: 'reset' });
    expect(findings(program)).toEqual([]);
  });
});

describe('an order record', () => {
  it('of another merchant than the first of the account is found, whatever came in between', async () => {
    const of = (id: string, merchant: string) =>
      withBody(record(id), (body) => ({ ...body, merchant: { id: merchant } }));
    const { program, shows } = await accepted(['a', 'b', 'c']);
    await shows({ a: of('a', 'm-1') });
    await shows({ b: of('b', 'm-2'), c: of('c', 'm-1') });
    expect(['a', 'b', 'c'].map((id) => findings(program, id))).toEqual([[], ['MERCHANT_MISMATCH open'], []]);
    await program.restart();
    await shows({ b: of('b', 'm-1') });
    expect(findings(program, 'b')).toEqual(['MERCHANT_MISMATCH resolved']);
  });

  it('with the transaction hash of another order is found', async () => {
    const withHash = (id: string, transactionHash: string) =>
      withBody(record(id), (body) => ({
        ...body,
        order: { ...(body['order'] as object), cryptoTransaction: { status: 'DONE', transactionHash } },
      }));
    const { program, shows } = await accepted(['a', 'b']);
    await shows({ a: withHash('a', 'h1') });
    await shows({ b: withHash('b', 'h1') });
    expect(rows(program, 'b')).toMatchObject([
      { class: 'TX_HASH_REUSED', actual: expect.stringContaining(' for a ') as string },
    ]);
    await shows({ b: withHash('b', 'h2') });
    expect(findings(program, 'b')).toEqual(['TX_HASH_REUSED resolved', 'TX_HASH_CHANGED open']);
  });

  it('of another merchant is found also among the first records of the account', async () => {
    const of = (id: string) => withBody(record(id), (body) => ({ ...body, merchant: { id: `merchant of ${id}` } }));
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    const { program, exchange, shows } = await accepted(ids, { environment: { ORDER_SYNC_EXCHANGE_CONCURRENCY: '6' } });
    // All are answered at once, so that they are recorded together.
    const { answer } = exchange;
    const hasAll = Promise.withResolvers<void>();
    exchange.answer = async (request) => {
      if (exchange.count('GET') === ids.length) hasAll.resolve();
      await hasAll.promise;
      return await answer(request);
    };
    await shows(Object.fromEntries(ids.map((id) => [id, of(id)])));
    const [, ...others] = ids;
    expect(ids.flatMap((id) => findings(program, id))).toEqual(others.map(() => 'MERCHANT_MISMATCH open'));
  });

  it.each([
    ['transaction hash', 'TX_HASH_REUSED', { cryptoTransaction: { status: 'DONE', transactionHash: 'h1' } }],
    ['order id', 'ORDER_REUSED', { id: 'order-1' }],
  ])('with the %s of another order is found also if both are looked up at once', async (_what, name, shared) => {
    const of = (id: string, order: object) =>
      withBody(record(id), (body) => ({
        ...body,
        merchant: { id: 'm-1' },
        order: { ...(body['order'] as object), ...order },
      }));
    const { program, shows } = await accepted(['a', 'b', 'c', 'd']);
    // From the second pass on the merchant is known, and answers are recorded beside each other.
    await shows({ a: of('a', {}) });
    await shows({ b: of('b', {}), c: of('c', shared), d: of('d', shared) });
    expect(['b', 'c', 'd'].flatMap((id) => findings(program, id))).toEqual([`${name} open`]);
  });

  it('of another exchange type than the pre-order stays found while its status changes', async () => {
    const { program, shows } = await accepted();
    await shows({ a: record('a', { orderType: 'DEPOSIT', exchangeType: 'BUY' }) });
    await shows({ a: record('a', { orderType: 'DEPOSIT', exchangeType: 'BUY', status: 'NEXT' }) });
    expect(rows(program)).toMatchObject([{ class: 'TYPE_MISMATCH', status: 'open', expected: 'SELL', actual: 'BUY' }]);
    await shows({ a: record('a', { orderType: 'DEPOSIT', exchangeType: 'SELL', status: 'LAST' }) });
    expect(findings(program)).toEqual(['TYPE_MISMATCH resolved']);
  });

  it('that does not give what was wrong before leaves the finding as it is', async () => {
    const of = (id: string, merchant: object) => withBody(record(id), (body) => ({ ...body, merchant }));
    const { program, shows } = await accepted(['a', 'b']);
    await shows({ a: of('a', { id: 'm-1' }) });
    await shows({ b: of('b', { id: 'm-2' }) });
    await shows({ b: of('b', { id: 77 }) });
    await shows({ b: of('b', {}) });
    expect(findings(program, 'b')).toEqual(['MERCHANT_MISMATCH open']);
  });

  it('that opens a final order again is found once for each time', async () => {
    const { program, shows } = await accepted();
    const opened = (modificationDate: string) => record('a', { status: 'DISPUTED', modificationDate });
    for (const hour of [1, 2]) {
      await shows({ a: record('a', { ...COMPLETED, modificationDate: `2026-01-05T0${hour}:00:00Z` }) });
      expect(program.row('a')['state']).toBe('final');
      program.clock.advance(8 * DAY);
      await shows({ a: opened(`2026-01-05T0${hour}:30:00Z`) });
      expect(program.row('a')['state']).toBe('open');
    }
    const reopened = rows(program).filter((row) => row.class === 'TERMINAL_REOPENED');
    expect(reopened.map((row) => [row.expected, row.status])).toEqual([
      ['final as DONE', 'open'],
      ['final as DONE', 'open'],
    ]);
  });

  it.each(['cancelled', 'abandoned'])('of a row that was %s is found, and the row follows it', async (state) => {
    const { program, shows } = await accepted();
    await program.app[Symbol.asyncDispose]();
    unguarded(
      program.merchant,
      () => void program.merchant.prepare('update merchant_orders set revision = revision + 1, state = ?').run(state),
    );
    program.clock.advance(DAY);
    await program.restart();
    await shows({ a: record('a') });
    await shows({ a: record('a', { status: 'NEXT' }) });
    expect(rows(program)).toMatchObject([
      { class: 'UNEXPECTED_ORDER', expected: `no order: ${state}`, actual: 'o1', status: 'open' },
    ]);
  });

  it('of a row that was never sent is found, whatever the row holds', async () => {
    const { program, exchange } = await scriptedProgram();
    program.insert({ external_order_id: 'a', asset: null, from_currency: null });
    program.merchant.exec(`update merchant_orders set revision = revision + 1, state = 'cancelled'`);
    exchange.answer = () => record('a');
    await followPass(program.app, 'all', NEVER);
    expect(rows(program).map((row) => [row.class, row.expected])).toContainEqual([
      'UNEXPECTED_ORDER',
      'no order: never sent',
    ]);
  });

  it('that was made before the first of two creates was sent is of another order', async () => {
    const { program, exchange } = await scriptedProgram();
    const began = program.clock.now();
    exchange.answer = ({ method }) => (method === 'POST' ? refusal(503) : NOT_FOUND);
    const at = (ms: number) => new Date(began.getTime() + ms).toISOString();
    program.insert({ external_order_id: 'a' });
    await createPass(program.app, NEVER);
    // The work of a person after a rejection: the order is sent once more, a day later.
    unguarded(program.merchant, () =>
      program.merchant.exec(
        `update merchant_orders set revision = revision + 1, state = 'accepted', attempts = 2, sent_at = '${at(DAY)}'`,
      ),
    );
    program.clock.advance(DAY);
    exchange.answer = () => record('a', { creationDate: at(SECOND), serverDate: at(DAY) });
    await followPass(program.app, 'all', NEVER);
    expect(findings(program)).not.toContain('ID_COLLISION open');
    exchange.answer = () => record('a', { creationDate: at(-DAY), serverDate: at(DAY) });
    await followPass(program.app, 'all', NEVER);
    expect(findings(program)).toContain('ID_COLLISION open');
  });

  it('that says the same is judged again when its completion passes', async () => {
    const { program, shows } = await accepted();
    const dates = { creationDate: '2026-01-05T12:00:00Z', modificationDate: '2026-01-05T12:00:00Z' };
    const at = (serverDate: string) => record('a', { ...dates, completionDate: '2026-01-05T12:01:00Z', serverDate });
    await shows({ a: at('2026-01-05T12:00:59Z') });
    expect(findings(program)).toEqual([]);
    await shows({ a: at('2026-01-05T12:01:00Z') });
    expect(findings(program)).toEqual(['COMPLETION_INCONSISTENT open']);
  });

  it('that says the same settles what only the time of the server had shown', async () => {
    const { program, shows } = await accepted();
    const dates = { creationDate: '2026-01-05T12:01:00Z', modificationDate: '2026-01-05T12:01:00Z' };
    await shows({ a: record('a', { ...dates, serverDate: '2026-01-05T12:00:00Z' }) });
    expect(findings(program)).toEqual(['COMPLETION_INCONSISTENT open']);
    await shows({ a: record('a', { ...dates, serverDate: '2026-01-05T12:01:00Z' }) });
    expect(findings(program)).toEqual(['COMPLETION_INCONSISTENT resolved']);
  });

  it('without an amount that can be compared is unchecked, until it has one', async () => {
    const { program, shows } = await accepted();
    await shows({ a: record('a', { exchangeOperation: { currencyPair: PAIR, inputAsset: '1.5' } }) });
    expect(rows(program)).toMatchObject([{ class: 'UNCHECKED', actual: 'no inputAsset', status: 'open' }]);
    await shows({ a: record('a') });
    expect(findings(program)).toEqual(['UNCHECKED resolved']);
  });

  it('never stops the pass, whatever it holds', async () => {
    const { program, exchange, shows } = await accepted(['a', 'b']);
    const field = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom(1e308, -0, '\u0000', '\ud800', '9'.repeat(99)),
    );
    const order = fc.dictionary(fc.constantFrom('number', 'creationDate', 'exchangeOperation', 'orderType'), field);
    const legs = fc.record({ transactionHash: field, currency: field, fee: field, externalCryptoAddress: field });
    const shown = fc.record({
      order,
      legs,
      top: fc.dictionary(fc.constantFrom('merchant', 'percent', 'reward'), field),
    });
    await fc.assert(
      fc.asyncProperty(shown, fc.string(), async ({ order: fields, legs: transaction, top }, status) => {
        const odd = withBody(record('a'), (body) => ({
          ...body,
          ...top,
          order: { ...(body['order'] as object), ...fields, status, cryptoTransaction: { ...transaction, status } },
        }));
        const before = exchange.count('GET');
        await shows({ a: odd, b: record('b', { status }) });
        expect(exchange.count('GET')).toBe(before + 2);
        expect(program.row('b')['order_status']).toBe(storable(status));
        expect(program.app.observers.counters.failed).toBe(0);
      }),
      { numRuns: 40 },
    );
  });
});

describe('what cannot be judged', () => {
  it.each(['sent_at', 'changed_at', 'created_at'])('stops nothing: %s is not a time', async (column) => {
    const { program, shows } = await accepted(['a', 'b']);
    program.merchant.exec(
      `update merchant_orders set revision = revision + 1, ${column} = 'yesterday' where external_order_id = 'a'`,
    );
    await shows({ a: wrong(1.6, { creationDate: '2026-01-05T12:00:01Z' }), b: record('b') });
    expect(['a', 'b'].map((id) => program.row(id)['state'])).toEqual(['disputed', 'open']);
    await sweep(program.app, NEVER);
    expect(findings(program)).toEqual(['AMOUNT_MISMATCH open']);
  });

  it(
    'is recorded all the same, logged, and judged by the next sweep',
    ofSqlite('a statement of it fails'),
    async () => {
      let fails = true;
      const log = capturedLog();
      const wrap: NonNullable<NonNullable<TestProgramOptions['overrides']>['store']>['wrap'] = (sql, statement) => {
        if (!sql.includes('"transaction_hash" = ?')) return statement;
        const all = statement.all.bind(statement);
        return Object.assign(statement, {
          all: (parameters: readonly unknown[]) => {
            if (fails) throw new RangeError('Invalid time value');
            return all(parameters);
          },
        });
      };
      const { program, shows } = await accepted(['a'], { overrides: { log: log.logger, store: { wrap } } });
      const compared = () => program.merchant.prepare('select body, compared_at from order_records').get();
      const given = withBody(wrong(1.6), (body) => ({
        ...body,
        order: { ...(body['order'] as object), cryptoTransaction: { transactionHash: 'h1' } },
      })) as { body: string };
      await shows({ a: given as ScriptedAnswer });
      expect([program.row('a')['state'], compared()]).toEqual(['disputed', { body: given.body, compared_at: null }]);
      await sweep(program.app, NEVER);
      expect([findings(program), compared()]).toMatchObject([[], { compared_at: null }]);
      expect(log.with('cannot be compared')).toMatchObject([{ externalOrderId: 'a' }]);
      fails = false;
      await sweep(program.app, NEVER);
      expect(findings(program)).toEqual(['AMOUNT_MISMATCH open']);
    },
  );
});

describe('the time at which a record was compared', () => {
  it('is that of the newest record that said something else, also if no amount of it changed', async () => {
    const { program, shows } = await accepted();
    const compared = () => program.merchant.prepare('select compared_at from order_records').pluck().get();
    await shows({ a: record('a') });
    const first = program.clock.now().toISOString();
    expect(compared()).toBe(first);
    await shows();
    expect(compared()).toBe(first);
    await shows({ a: record('a', { number: 99 }) });
    expect(compared()).toBe(program.clock.now().toISOString());
  });

  it('is now if a record is compared that was kept before', async () => {
    const { program, shows } = await accepted();
    await shows({ a: record('a') });
    program.merchant.exec('update order_records set compared_at = null');
    program.clock.advance(DAY);
    await sweep(program.app, NEVER);
    const kept = program.merchant.prepare('select compared_at from order_records').pluck().get();
    expect(kept).toBe(program.clock.now().toISOString());
  });
});

async function acknowledgeAll({ app, merchant }: TestProgram): Promise<void> {
  const open = merchant.prepare(`select * from findings where status = 'open'`).all() as Parameters<
    typeof acknowledge
  >[1][];
  for (const row of open) {
    await app.store.writer.write((tx) => acknowledge(tx, row, { actor: 'ann', reason: 'known', now: app.clock.now() }));
  }
}
