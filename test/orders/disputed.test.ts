import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sweep } from '../../src/findings/sweep.ts';
import { assumeOrderSent } from '../../src/orders/fail-over.ts';
import { createPass } from '../../src/orders/create.ts';
import { followPass } from '../../src/orders/follow.ts';
import { decideOrders, listTargets } from '../../src/extensions/operate/decide-orders.ts';
import { syncOnce } from '../../src/orders/sync.ts';
import { listFindings } from '../../src/extensions/operate/tables/listed-findings.ts';
import { echo, NOT_FOUND, record, refusal, type ScriptedAnswer } from '../support/scripted-exchange.ts';
import { acceptedOrders, scriptedProgram, type TestProgram, type TestProgramOptions } from '../support/test-program.ts';
import { testClock } from '../support/test-clock.ts';
import { DAY, HOUR, SECOND } from '../support/tracking.ts';
import { acknowledge } from '../../src/extensions/operate/tables/findings.ts';

const NEVER = new AbortController().signal;
const PAIR = { fromCurrency: 'BTC', toCurrency: 'EUR' };
const DONE = { status: 'COMPLETED', completionDate: '2026-01-05T12:00:00Z', serverDate: '2026-01-05T12:00:01Z' };

/** The other fields of a record, beside its row's own order. */
interface Shown {
  readonly merchant?: string;
  readonly amount?: string;
  readonly pair?: Readonly<Record<string, string>>;
  readonly orderType?: string;
  readonly exchangeType?: string;
  readonly creationDate?: string;
  readonly order?: Readonly<Record<string, unknown>>;
}

/** The record of order `a`, which agrees with its row unless told otherwise. */
function shown({ merchant = 'm-1', amount = '1.5', pair = PAIR, order, ...types }: Shown = {}): ScriptedAnswer {
  const { body } = record('a', {
    creationDate: '2026-01-05T12:00:00Z',
    orderType: 'DEPOSIT',
    exchangeType: 'SELL',
    ...types,
    ...order,
    exchangeOperation: { currencyPair: pair, inputAsset: 'AMOUNT' },
  }) as { body: string };
  const text = body.replace('"AMOUNT"', amount).replace(/^\{/, `{"merchant":{"id":"${merchant}"},`);
  return { status: 200, body: text };
}

/** The differences that make an order disputed, by their words in the settings. */
const CONTRADICTIONS: Readonly<Record<string, Shown>> = {
  merchant: { merchant: 'm-2' },
  age: { creationDate: '2024-03-01T10:00:00Z' },
  pair: { pair: { fromCurrency: 'BTC', toCurrency: 'USD' } },
  type: { orderType: 'WITHDRAW' },
  amount: { amount: '15' },
};
const WORDS = Object.keys(CONTRADICTIONS);

/** Order `a`, accepted, of an account whose merchant is known by order `first`. */
async function accepted(options: TestProgramOptions = {}) {
  const on = await acceptedOrders(['a', 'first'], options);
  const { program, answers, lookUp } = on;
  const known = { body: (shown() as { body: string }).body.replace('"a"', '"first"').replace('"o1"', '"o-first"') };
  answers.set('first', { status: 200, ...known });
  await lookUp(SECOND);
  return {
    ...on,
    /** The record of `a` that the exchange shows from now on; it is looked up `afterMs` later. */
    shows: async (answer: ScriptedAnswer, afterMs = SECOND) => {
      answers.set('a', answer);
      await lookUp(afterMs);
      return state(program);
    },
    resolve: async (kind: 'ours' | 'abandoned' = 'ours') => {
      const action = { judgement: { kind }, actor: 'anna', reason: 'the exchange said so' } as const;
      const results = [];
      for await (const result of decideOrders(program.app, [{ externalOrderId: 'a' }], action)) results.push(result);
      return results[0];
    },
  };
}

function state(program: TestProgram): unknown {
  return program.row('a')['state'];
}

function findings(program: TestProgram, id = 'a'): unknown[] {
  const rows = program.merchant.prepare(
    `select class || ' ' || status from findings where external_order_id = ? order by class`,
  );
  return rows.pluck().all(id);
}

describe('an order that contradicts its row', () => {
  it('is disputed and not final: an order of 2024, of another merchant, at ten times the amount', async () => {
    const { program, shows } = await accepted();
    const foreign = { merchant: 'm-2', amount: '15', creationDate: '2024-03-01T10:00:00Z', order: DONE };
    expect(await shows(shown(foreign))).toBe('disputed');
    expect(program.row('a')).toMatchObject({ order_status: 'COMPLETED', outcome: null });
    expect(program.row('a')['state_reason']).toMatch(
      /merchant is .*m-2.*; it was created at .*2024.*; its amount is .*15/,
    );
    expect(program.states('a')).toEqual(['sending', 'accepted', 'disputed']);
    expect(findings(program)).toEqual(['AMOUNT_MISMATCH open', 'ID_COLLISION open', 'MERCHANT_MISMATCH open']);
  });

  it('stays disputed by a record that lacks what it is disputed by, and says nothing of whose the account is', async () => {
    const on = await acceptedOrders(['a', 'b']);
    const show = async (what?: Shown) => {
      on.answers.set('a', shown(what));
      await on.lookUp(8 * DAY);
    };
    for (const creationDate of ['2024-03-01T10:00:00Z', 'soon', 'sooner']) {
      await show({ merchant: 'm-2', creationDate });
      expect(state(on.program)).toBe('disputed');
      expect(on.program.row('a')['state_reason']).toMatch(/it was created at .*2024/);
    }
    const merchants = on.program.merchant.prepare("select count(*) from account_facts where name = 'merchant.id'");
    expect(merchants.pluck().get()).toBe(0);
    await show();
    expect(state(on.program)).toBe('open');
  });

  it('never reads as open or final, whatever contradicts it, and does when nothing does', async () => {
    const { program, shows } = await accepted();
    const step = fc.record({
      by: fc.subarray(WORDS),
      isFinal: fc.boolean(),
      id: fc.constantFrom('o1', 'o2'),
      modificationDate: fc.constantFrom(undefined, '2024-03-02T10:00:00Z', '2026-01-05T11:00:00Z'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
        for (const { by, isFinal, id, modificationDate } of steps) {
          const order = { id, modificationDate, ...(isFinal ? DONE : { status: 'REQUEST' }) };
          const what = Object.assign({}, ...by.map((word) => CONTRADICTIONS[word])) as Shown;
          const reads = await shows(shown({ ...what, order }), 8 * DAY);
          if (by.length > 0) expect(reads).toBe('disputed');
          // A record that is older than ours leaves the order as it is.
          else if (program.row('a')['stale_date'] === null) expect(reads).toBe(isFinal ? 'final' : 'open');
          expect(program.states('a').at(-1)).toBe(reads);
        }
      }),
      { numRuns: 15 },
    );
  });

  it.each(WORDS)('is what the settings say it is: %s', async (word) => {
    const others = WORDS.filter((one) => one !== word).join(',');
    const { shows } = await accepted({ environment: { ORDER_SYNC_FOLLOW_DISPUTED_BY: others } });
    expect(await shows(shown({ ...CONTRADICTIONS[word], order: DONE }))).toBe('final');
  });

  it('is disputed from any state: it was open, it was final', async () => {
    const { program, shows } = await accepted();
    const states = [
      await shows(shown()),
      await shows(shown({ amount: '15' })),
      await shows(shown({ order: DONE })),
      await shows(shown({ merchant: 'm-2', order: DONE }), 2 * HOUR),
      await shows(shown()),
    ];
    expect(states).toEqual(['open', 'disputed', 'final', 'disputed', 'open']);
    expect(program.events('a').filter((event) => event.startsWith('finding'))).toEqual([]);
  });

  it('is not disputed for an amount within the tolerance', async () => {
    const { shows } = await accepted({
      environment: { ORDER_SYNC_RECONCILE_TOLERANCE: '0.1' },
    });
    expect(await shows(shown({ amount: '1.6' }))).toBe('open');
    expect(await shows(shown({ amount: '1.61' }))).toBe('disputed');
  });

  it('is not disputed for its age if it is not known when it was sent: taken over, or of a restored database', async () => {
    const { program, shows, answers, lookUp } = await accepted();
    program.merchant.exec(
      `update merchant_orders set revision = revision + 1, adopted_at = '2026-01-05T12:00:00.000Z' where external_order_id = 'a'`,
    );
    expect(await shows(shown(CONTRADICTIONS['age']))).toBe('open');
    program.insert({ external_order_id: 'b' });
    const { account, store } = program.app;
    const how = { source: 'operator', reason: 'restored', actor: 'anna' } as const;
    await store.writer.write((tx) => assumeOrderSent(tx, { account, id: 'b', how }, program.app));
    answers.set('b', record('b', { creationDate: '2026-01-05T09:00:00Z' }));
    await lookUp(DAY);
    expect([program.row('b')['state'], findings(program, 'b')]).toEqual(['open', ['CREATE_UNKNOWN resolved']]);
  });

  it('leaves the outcome of our create as unknown as it was, also for a sweep, until the order is ours', async () => {
    const { program, exchange } = await scriptedProgram();
    let answer = shown({ amount: '15' });
    exchange.answer = (request) => (request.method === 'POST' ? refusal(503) : answer);
    program.insert({ external_order_id: 'a' });
    await createPass(program.app, NEVER);
    const look = async () => {
      program.clock.advance(DAY);
      await followPass(program.app, 'all', NEVER);
      await sweep(program.app, NEVER);
      return [state(program), ...findings(program)];
    };
    expect(await look()).toEqual(['disputed', 'AMOUNT_MISMATCH open', 'CREATE_UNKNOWN open']);
    expect(await look()).toEqual(['disputed', 'AMOUNT_MISMATCH open', 'CREATE_UNKNOWN open']);
    answer = shown();
    expect(await look()).toEqual(['open', 'AMOUNT_MISMATCH resolved', 'CREATE_UNKNOWN resolved']);
  });

  it('does not teach whose orders the account has', async () => {
    const { program, answers, lookUp } = await acceptedOrders(['a', 'b']);
    answers.set('a', shown({ merchant: 'm-2', amount: '15' }));
    await lookUp(SECOND);
    const merchant = program.merchant.prepare(`select value from account_facts where name = 'merchant.id'`).pluck();
    expect(merchant.get()).toBeUndefined();
    answers.set('b', {
      status: 200,
      body: (shown() as { body: string }).body.replace('"a"', '"b"').replace('o1', 'o2'),
    });
    await lookUp(SECOND);
    expect([merchant.get(), program.row('b')['state'], findings(program, 'b')]).toEqual(['m-1', 'open', []]);
  });

  it('is looked at as a final one is, once its record is final', async () => {
    const { program, shows, exchange, answers } = await accepted();
    await shows(shown({ amount: '15', order: DONE }));
    answers.set('first', NOT_FOUND);
    const due = () => Date.parse(String(program.row('a')['next_action_at'])) - program.clock.now().getTime();
    const gaps = [due()];
    for (const ms of [HOUR, DAY - HOUR]) {
      program.clock.advance(ms);
      await followPass(program.app, 'due', NEVER);
      gaps.push(due());
    }
    expect(gaps).toEqual([HOUR, DAY - HOUR, 6 * DAY]);
    // A look-up before its time spends none of them.
    await followPass(program.app, 'all', NEVER);
    expect(due()).toBe(6 * DAY);
    program.clock.advance(6 * DAY);
    await followPass(program.app, 'due', NEVER);
    expect(program.row('a')).toMatchObject({ state: 'disputed', next_action_at: null });
    const before = exchange.count('GET');
    await program.restart();
    expect([program.row('a')['next_action_at'], exchange.count('GET')]).toEqual([null, before]);
  });

  it('is counted by sync, which ends with something to look at, also when its findings were acknowledged', async () => {
    const { program, answers } = await accepted();
    answers.set('a', shown({ amount: '15' }));
    await syncOnce(program.app, 'all', NEVER);
    const { account, store, clock } = program.app;
    for (const one of (await listFindings(store.db, { account, limit: 9 })).rows) {
      await store.writer.write((tx) => acknowledge(tx, one, { actor: 'anna', reason: 'known', now: clock.now() }));
    }
    const { summary, end } = await syncOnce(program.app, 'all', NEVER);
    expect([summary.disputed, summary.findings, end, state(program)]).toEqual([1, 0, 'look', 'disputed']);
  });
});

describe('a clock that is set makes no order of ours older than its request:', () => {
  /** The time of the exchange advances; the clock of the program is off by `setMs` when the order is sent, then by `thenMs`. */
  async function underClock(setMs: number) {
    const machine = testClock();
    let offMs = setMs;
    const clock = { ...machine, now: () => new Date(machine.now().getTime() + offMs) };
    const on = await acceptedOrders(['a'], { clock });
    const createdAt = machine.now().toISOString();
    return async (answer: 'found' | 'absent', thenMs: number, afterMs: number) => {
      offMs = thenMs;
      machine.advance(afterMs);
      const serverDate = machine.now().toISOString();
      const order = { creationDate: createdAt, modificationDate: serverDate, serverDate };
      on.answers.set('a', answer === 'found' ? shown({ order }) : NOT_FOUND);
      await followPass(on.program.app, 'all', NEVER);
      return [state(on.program), findings(on.program).includes('ID_COLLISION open')];
    };
  }

  it('set back an hour after the request', async () => {
    const look = await underClock(0);
    expect(await look('found', -HOUR, DAY)).toEqual(['open', false]);
  });

  it('ahead by an hour at the request, and set right after the first look-up', async () => {
    const look = await underClock(HOUR);
    expect(await look('found', HOUR, SECOND)).toEqual(['open', false]);
    expect(await look('found', 0, DAY)).toEqual(['open', false]);
    expect(await look('found', 0, DAY)).toEqual(['open', false]);
  });

  it('ahead by an hour at the request, and set right before the first look-up', async () => {
    const look = await underClock(HOUR);
    expect(await look('found', 0, SECOND)).toEqual(['open', false]);
    expect(await look('found', 0, DAY)).toEqual(['open', false]);
  });

  it('ahead by an hour at the request, and set right long before the order appears', async () => {
    const look = await underClock(HOUR);
    expect(await look('absent', 0, SECOND)).toEqual(['accepted', false]);
    expect(await look('found', 0, DAY)).toEqual(['open', false]);
  });
});

describe('a person who says that a disputed order is ours', () => {
  it('makes it what its newest record says, for good, with who and why in the history', async () => {
    const { program, shows, resolve } = await accepted({
      environment: { ORDER_SYNC_FOLLOW_SUCCEEDED_STATUSES: 'COMPLETED' },
    });
    await shows(shown({ amount: '15' }));
    expect(await resolve()).toMatchObject({ kind: 'done', from: 'disputed', to: 'open' });
    expect(await shows(shown({ amount: '15.0', order: DONE }))).toBe('final');
    expect(program.row('a')['outcome']).toBe('succeeded');
    expect(await shows(shown(), 2 * HOUR)).toBe('open');
    expect(await shows(shown({ amount: '15' }))).toBe('open');
    const decided = program.merchant.prepare(`select new_value, actor, reason from events where source = 'operator'`);
    expect(decided.raw().all()).toEqual([['open', 'anna', 'the exchange said so']]);
    expect(findings(program)).toContain('AMOUNT_MISMATCH open');
  });

  it('settles no other contradiction', async () => {
    const { program, shows, resolve } = await accepted();
    await shows(shown({ amount: '15' }));
    await resolve();
    expect(await shows(shown({ amount: '16' }))).toBe('disputed');
    await resolve();
    expect(await shows(shown({ amount: '15' }))).toBe('open');
    expect(await shows(shown({ amount: '15', merchant: 'm-2', order: DONE }))).toBe('disputed');
    expect(await resolve()).toMatchObject({ to: 'final' });
    await program.restart();
    expect(await shows(shown({ amount: '16', merchant: 'm-2', order: DONE }), 2 * HOUR)).toBe('final');
    expect(await shows(shown({ merchant: 'm-3' }), DAY)).toBe('disputed');
  });

  it('decides about many at once, and about none that is disputed for another reason than was shown', async () => {
    const { program, shows } = await accepted();
    await shows(shown({ amount: '15' }));
    const action = { judgement: { kind: 'ours' }, actor: 'anna', reason: 'all are ours' } as const;
    const listed = await listTargets(program.app, { state: 'disputed', limit: 9 }, action);
    expect(listed.map(({ result }) => result)).toEqual([
      { kind: 'done', externalOrderId: 'a', from: 'disputed', to: 'open' },
    ]);
    await shows(shown({ amount: '15', merchant: 'm-2' }));
    const targets = listed.map(({ target }) => target);
    for await (const result of decideOrders(program.app, targets, action)) expect(result.kind).toBe('passed-over');
    expect(state(program)).toBe('disputed');
  });

  it('is told no if the order is not disputed', async () => {
    const { shows, resolve } = await accepted();
    await shows(shown());
    expect(await resolve()).toMatchObject({ kind: 'passed-over', state: 'open' });
  });
});

describe('a disputed order that a person gave up', () => {
  it('stays abandoned while the same order contradicts it, and is not missed', async () => {
    const { program, shows, resolve } = await accepted();
    await shows(shown({ amount: '15' }));
    expect(await resolve('abandoned')).toMatchObject({ to: 'abandoned' });
    expect(await shows(shown({ amount: '15', order: DONE }), 2 * HOUR)).toBe('abandoned');
    expect(await shows(NOT_FOUND, 2 * DAY)).toBe('abandoned');
    expect(await shows(shown({ amount: 'null', order: DONE }), 3 * DAY)).toBe('abandoned');
    // The clock of the test advances, that of the exchange does not.
    const judged = findings(program).filter((one) => !/^(CLOCK_SKEW|UNCHECKED|SILENT_CHANGE) open$/.test(String(one)));
    expect(judged).toEqual(['AMOUNT_MISMATCH open']);
    expect(await shows(shown({ amount: '15', order: { id: 'o-other' } }), 8 * DAY)).toBe('disputed');
  });

  it('is followed when the order no longer contradicts it', async () => {
    const { program, shows, resolve } = await accepted();
    await shows(shown({ amount: '15' }));
    await resolve('abandoned');
    expect(await shows(shown(), 2 * HOUR)).toBe('open');
    expect(findings(program)).toEqual(['AMOUNT_MISMATCH resolved', 'UNEXPECTED_ORDER open']);
  });
});

describe('what belongs to one order', () => {
  it('is a finding if two orders have it: a pre-order', async () => {
    const { program, exchange } = await scriptedProgram();
    exchange.answer = (request) => echo(request, { id: 'p-same' });
    program.insert({ external_order_id: 'a' });
    await createPass(program.app, NEVER);
    program.insert({ external_order_id: 'b' });
    await createPass(program.app, NEVER);
    expect([findings(program), findings(program, 'b')]).toEqual([[], ['PREORDER_REUSED open']]);
  });

  it('is a finding if two orders have it: an order', async () => {
    const { program, answers, lookUp } = await acceptedOrders(['a', 'b']);
    answers.set('a', record('a', { id: 'o-same' }));
    await lookUp(SECOND);
    answers.set('b', record('b', { id: 'o-same' }));
    await lookUp(SECOND);
    expect([findings(program), findings(program, 'b')]).toEqual([[], ['ORDER_REUSED open']]);
    answers.set('b', record('b', { id: 'o-own' }));
    await lookUp(SECOND);
    expect(findings(program, 'b')).toEqual(['ORDER_REPLACED open', 'ORDER_REUSED resolved']);
  });
});
