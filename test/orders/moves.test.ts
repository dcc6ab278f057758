import { describe, expect, it } from 'vitest';
import { createPass } from '../../src/orders/create.ts';
import { followPass } from '../../src/orders/follow.ts';
import { scriptedProgram, type TestProgramOptions } from '../support/test-program.ts';
import { echo, NOT_FOUND, record, refusal, type ScriptedAnswer } from '../support/scripted-exchange.ts';
import { DAY, HOUR, MINUTE, SECOND, SETTINGS } from '../support/tracking.ts';
import { unguarded } from '../support/unguarded.ts';

const NEVER = new AbortController().signal;
const COMPLETED = { status: 'COMPLETED', completionDate: '2026-01-05T12:00:00Z', serverDate: '2026-01-05T12:00:00Z' };

/** One order `a` that was sent, and an exchange whose answers to look-ups and to later creates the test sets. */
async function sent(create: ScriptedAnswer | undefined, options: TestProgramOptions = {}) {
  const { program, exchange } = await scriptedProgram(options);
  const answers: { create: ScriptedAnswer | undefined; lookup: ScriptedAnswer } = { create, lookup: NOT_FOUND };
  exchange.answer = (request) => (request.method === 'POST' ? (answers.create ?? echo(request)) : answers.lookup);
  program.insert({ external_order_id: 'a' });
  await createPass(program.app, NEVER);
  return {
    program,
    exchange,
    answers,
    row: () => program.row('a'),
    findings: () => program.events('a').filter((event) => event.startsWith('finding')),
    /** Moves the clock, then runs the passes. */
    later: async (ms: number) => {
      program.clock.advance(ms);
      await createPass(program.app, NEVER);
      await followPass(program.app, 'due', NEVER);
    },
    /** As a person's decision would leave it: the commands for it come later. */
    put: (state: string) => {
      const update = program.merchant.prepare(
        'update merchant_orders set revision = revision + 1, state = ?, next_action_at = ?',
      );
      unguarded(program.merchant, () => update.run(state, program.clock.now().toISOString()));
    },
  };
}

describe('an order from row to end', () => {
  it('goes pending, sending, accepted, open, final, each status change once, in order', async () => {
    const { program, answers, later, row } = await sent(undefined);
    answers.lookup = record('a', { modificationDate: '2026-01-05T12:00:01Z' });
    await later(5 * SECOND);
    await later(5 * SECOND);
    answers.lookup = record('a', {
      status: 'IN PROGRESS ',
      crypto: 'pending',
      modificationDate: '2026-01-05T12:00:02Z',
    });
    await later(10 * SECOND);
    answers.lookup = record('a', {
      ...COMPLETED,
      crypto: 'pending',
      fiat: 'PAID',
      modificationDate: '2026-01-05T12:00:03Z',
    });
    await later(10 * SECOND);
    expect(program.events('a')).toEqual([
      'state pending → sending',
      'state sending → accepted',
      'order.status null → REQUEST',
      'cryptoTransaction.status null → NEW',
      'fiatTransaction.status null → NEW',
      'state accepted → open',
      'order.status REQUEST → IN PROGRESS ',
      'cryptoTransaction.status NEW → pending',
      'record.modificationDate 2026-01-05T12:00:01Z → 2026-01-05T12:00:02Z',
      'order.status IN PROGRESS  → COMPLETED',
      'fiatTransaction.status NEW → PAID',
      'record.modificationDate 2026-01-05T12:00:02Z → 2026-01-05T12:00:03Z',
      `record.completionDate null → ${COMPLETED.completionDate}`,
      'state open → final',
    ]);
    expect(row()).toMatchObject({
      order_id: 'o1',
      order_status: 'COMPLETED',
      crypto_status: 'pending',
      fiat_status: 'PAID',
    });
  });

  it('may be final at the first look', async () => {
    const { program, answers, later } = await sent(undefined);
    answers.lookup = record('a', COMPLETED);
    await later(5 * SECOND);
    expect(program.states('a')).toEqual(['sending', 'accepted', 'final']);
  });
});

describe('accepted', () => {
  it('stays so through any number of 404s: a pre-order may never be taken up', async () => {
    const { program, exchange, later, row } = await sent(undefined);
    for (let week = 0; week < 60; week += 1) await later(7 * DAY);
    expect(program.states('a')).toEqual(['sending', 'accepted']);
    expect(exchange.count('GET')).toBe(60);
    expect(row()).toMatchObject({ verifications: 0, last_lookup_at: program.clock.now().toISOString() });
  });
});

describe('unknown', () => {
  it.each([
    ['open', record('a')],
    ['final', record('a', COMPLETED)],
  ])('becomes %s when the order appears', async (state, appeared) => {
    const { program, exchange, answers, later } = await sent('reset');
    await later(5 * SECOND);
    answers.lookup = appeared;
    await later(10 * SECOND);
    expect(program.states('a')).toEqual(['sending', 'unknown', state]);
    expect(exchange.count('POST')).toBe(1);
  });

  it('is looked up at each moment of the setting, and held after the last', async () => {
    const { program, exchange, later, row } = await sent('reset');
    let passed = 0;
    for (const [index, moment] of SETTINGS.verifyAfter.entries()) {
      expect(row()).toMatchObject({ state: 'unknown', verifications: index });
      await later(moment - passed - 1);
      expect(exchange.count('GET')).toBe(index);
      await later(1);
      expect(exchange.count('GET')).toBe(index + 1);
      passed = moment;
    }
    expect(program.states('a')).toEqual(['sending', 'unknown', 'held']);
    expect(row()['state_reason']).toMatch(/unknown and 10 look-ups found no order/);
  });

  it.each<[string, ScriptedAnswer]>([
    ['500', refusal(500)],
    ['502 from a gateway', { status: 502, body: 'bad gateway' }],
    ['a page', { status: 200, body: '<html></html>' }],
    ['another documented refusal', refusal(400)],
    ['other JSON', { status: 200, body: '{"answer":42}' }],
    ['an order record without its status', { status: 200, body: '{"externalOrderId":"a","order":{"id":"o1"}}' }],
    ['the record of another order', record('b')],
    ['a reset', 'reset'],
    ['half an answer', 'truncated'],
    ['a redirect', { status: 302, headers: { location: '/' } }],
    ['401', refusal(401)],
    ['429', { status: 429, headers: { 'retry-after': '1' } }],
  ])('spends no verification on %s', async (_name, answer) => {
    const { program, exchange, answers, later, row } = await sent('reset');
    answers.lookup = answer;
    for (let look = 0; look < 15; look += 1) await later(HOUR);
    expect(exchange.count('GET')).toBe(15);
    expect(row()).toMatchObject({ state: 'unknown', verifications: 0, last_lookup_at: null });
    answers.lookup = NOT_FOUND;
    for (let look = 0; look < 9; look += 1) await later(DAY);
    expect(row()).toMatchObject({ state: 'unknown', verifications: 9 });
    await later(DAY);
    expect(program.states('a')).toEqual(['sending', 'unknown', 'held']);
  });

  it.each<[string, ScriptedAnswer]>([
    ['a 404 of another kind', { status: 404, body: '{"timestamp":1,"status":404,"error":"Not Found"}' }],
    ['a 404 without a body', { status: 404 }],
    ['a 404 that is no UTF-8', { status: 404, body: Buffer.from('<p>non trouvé</p>', 'latin1') }],
    ['204', { status: 204 }],
    ['no body', { status: 200, body: '' }],
    ['a record without an order', { status: 200, body: '{"order":null}' }],
  ])('is held after as many look-ups that were answered with %s, and never sent again by itself', async (...given) => {
    const environment = { ORDER_SYNC_CREATE_ON_UNKNOWN: 'resend' };
    const { program, exchange, answers, later, row } = await sent('reset', { environment });
    answers.lookup = given[1];
    for (let look = 0; look < 10; look += 1) await later(DAY);
    expect(program.states('a')).toEqual(['sending', 'unknown', 'held']);
    expect(exchange.count('POST')).toBe(1);
    expect(row()).toMatchObject({ documented_absences: 0, absent_at: null });
  });

  it('spends no verification while the exchange is out of reach', async () => {
    const { exchange, later, row } = await sent('reset');
    await exchange[Symbol.asyncDispose]();
    for (let look = 0; look < 15; look += 1) await later(10 * MINUTE);
    expect(row()).toMatchObject({ state: 'unknown', verifications: 0 });
  });

  it('spends no verification on looks before its time, with or without an answer', async () => {
    const { program, exchange, answers, later, row } = await sent('reset');
    await later(5 * SECOND);
    const due = row()['next_action_at'];
    for (const answer of [NOT_FOUND, refusal(500), NOT_FOUND, 'reset', NOT_FOUND] as const) {
      answers.lookup = answer;
      await followPass(program.app, 'all', NEVER);
    }
    expect(exchange.count('GET')).toBe(6);
    expect(row()).toMatchObject({ state: 'unknown', verifications: 1, next_action_at: due });
  });
});

describe('held', () => {
  it.each([
    ['open', record('a')],
    ['final', record('a', COMPLETED)],
  ])('is looked up once a day, and becomes %s when the order appears', async (state, appeared) => {
    const { program, exchange, answers, later } = await sent('reset', {
      environment: { ORDER_SYNC_CREATE_VERIFY_AFTER: '5s', ORDER_SYNC_RECONCILE_FRESH_FOR: '30d' },
    });
    await later(5 * SECOND);
    expect(program.states('a').at(-1)).toBe('held');
    await later(DAY - 1);
    expect(exchange.count('GET')).toBe(1);
    await later(1);
    await later(DAY);
    expect(exchange.count('GET')).toBe(3);
    answers.lookup = appeared;
    await later(DAY);
    expect(program.states('a')).toEqual(['sending', 'unknown', 'held', state]);
    expect(exchange.count('POST')).toBe(1);
  });
});

describe('final', () => {
  it('is looked at again after 1 h, 1 d and 7 d, and then never', async () => {
    const { exchange, answers, later, row } = await sent(undefined);
    answers.lookup = record('a', COMPLETED);
    await later(5 * SECOND);
    const looks = [];
    let passed = 0;
    for (const moment of [HOUR - 1, HOUR, DAY - 1, DAY, 7 * DAY - 1, 7 * DAY, 30 * DAY, 400 * DAY]) {
      await later(moment - passed);
      passed = moment;
      looks.push(exchange.count('GET') - 1);
    }
    expect(looks).toEqual([0, 1, 1, 2, 2, 3, 3, 3]);
    expect(row()).toMatchObject({ state: 'final', next_action_at: null });
  });

  it('does not spend a re-check on an outage', async () => {
    const { exchange, answers, later, row } = await sent(undefined);
    answers.lookup = record('a', COMPLETED);
    await later(5 * SECOND);
    answers.lookup = refusal(503);
    for (let look = 0; look < 10; look += 1) await later(HOUR);
    expect(row()).toMatchObject({ state: 'final', rechecks: 0 });
    answers.lookup = record('a', COMPLETED);
    for (let look = 0; look < 10; look += 1) await later(7 * DAY);
    expect(exchange.count('GET')).toBe(1 + 10 + 3);
  });

  it('stays final when the exchange does not find the order any more', async () => {
    const { program, answers, later } = await sent(undefined);
    answers.lookup = record('a', COMPLETED);
    await later(5 * SECOND);
    answers.lookup = NOT_FOUND;
    for (let look = 0; look < 4; look += 1) await later(7 * DAY);
    expect(program.states('a')).toEqual(['sending', 'accepted', 'final']);
  });

  it('becomes open again with a finding, is followed, and re-checked anew once final', async () => {
    const { program, exchange, answers, later, findings } = await sent(undefined);
    answers.lookup = record('a', COMPLETED);
    await later(5 * SECOND);
    await later(HOUR);
    answers.lookup = record('a', { status: 'DISPUTED' });
    await later(DAY);
    expect(findings()).toEqual(['finding null → TERMINAL_REOPENED']);
    expect(program.row('a')).toMatchObject({ state: 'open', order_status: 'DISPUTED', rechecks: 0 });
    answers.lookup = record('a', COMPLETED);
    await later(5 * SECOND);
    const looks = exchange.count('GET');
    for (let look = 0; look < 5; look += 1) await later(7 * DAY);
    expect(exchange.count('GET') - looks).toBe(3);
    expect(program.states('a')).toEqual(['sending', 'accepted', 'final', 'open', 'final']);
    expect(findings()).toHaveLength(1);
  });

  it('records a change that keeps it final, and is re-checked anew', async () => {
    const { program, answers, later, row } = await sent(undefined);
    answers.lookup = record('a', COMPLETED);
    await later(5 * SECOND);
    await later(HOUR);
    answers.lookup = record('a', { ...COMPLETED, fiat: 'REFUNDED' });
    await later(DAY);
    expect(program.events('a').at(-1)).toBe('fiatTransaction.status NEW → REFUNDED');
    expect(row()).toMatchObject({ state: 'final', rechecks: 0 });
  });
});

describe('cancelled and abandoned', () => {
  it.each([
    ['cancelled', 'open', record('a')],
    ['cancelled', 'final', record('a', COMPLETED)],
    ['abandoned', 'open', record('a')],
    ['abandoned', 'final', record('a', COMPLETED)],
  ])('%s becomes %s when an order appears all the same, with a finding', async (state, next, appeared) => {
    const { program, answers, later, findings, put } = await sent(undefined);
    put(state);
    await later(0);
    answers.lookup = appeared;
    await later(DAY);
    expect(program.states('a').at(-1)).toBe(next);
    expect(findings()).toEqual(['finding null → UNEXPECTED_ORDER']);
  });

  it.each(['cancelled', 'abandoned'])('%s is looked at a few times only', async (state) => {
    const { exchange, later, put, row } = await sent(undefined);
    put(state);
    for (let look = 0; look < 8; look += 1) await later(7 * DAY);
    expect(exchange.count('GET')).toBe(3);
    expect(row()).toMatchObject({ state, next_action_at: null });
  });
});

describe('rejected and invalid', () => {
  it('stay as they are: nothing is sent, and only the rejected one is looked up, after 1 h and 1 d', async () => {
    const { program, exchange, later, row } = await sent(refusal(400));
    program.insert({ external_order_id: 'bad', asset: '0' });
    const lookups = [];
    for (const wait of [HOUR - 1, 1, 23 * HOUR - 1, 1, 30 * DAY, 30 * DAY]) {
      await later(wait);
      lookups.push(exchange.count('GET'));
    }
    await followPass(program.app, 'all', NEVER);
    expect(lookups).toEqual([0, 1, 1, 2, 2, 2]);
    expect(row()).toMatchObject({ state: 'rejected', next_action_at: null });
    expect(program.states('bad')).toEqual(['invalid']);
    expect(exchange.count('POST')).toBe(1);
  });

  it.each([
    ['open', record('a')],
    ['final', record('a', COMPLETED)],
  ])('a rejected row becomes %s when the exchange took it after all, with a finding', async (next, appeared) => {
    const { program, answers, later, findings } = await sent(refusal(400));
    answers.lookup = appeared;
    await later(HOUR);
    expect(program.states('a')).toEqual(['sending', 'rejected', next]);
    expect(findings()).toEqual(['finding null → UNEXPECTED_ORDER']);
  });
});

describe('create.onUnknown: resend', () => {
  const resend = { environment: { ORDER_SYNC_CREATE_ON_UNKNOWN: 'resend' } };

  it('sends once more, not before the third 404 nor before 10 minutes have passed', async () => {
    const { program, exchange, answers, later } = await sent('reset', resend);
    answers.create = undefined;
    for (const wait of [5 * SECOND, 10 * SECOND, 30 * SECOND, 75 * SECOND, 3 * MINUTE]) await later(wait);
    expect(program.row('a')).toMatchObject({ state: 'unknown', verifications: 5 });
    expect(exchange.count('POST')).toBe(1);
    await later(10 * MINUTE);
    await later(0);
    expect(program.states('a')).toEqual(['sending', 'unknown', 'held', 'pending', 'sending', 'accepted']);
    expect(exchange.count('POST')).toBe(2);
  });

  it('waits for three 404s however long an outage lasts', async () => {
    const { exchange, answers, later, row } = await sent('reset', resend);
    answers.lookup = refusal(503);
    for (let look = 0; look < 10; look += 1) await later(HOUR);
    answers.lookup = NOT_FOUND;
    await later(HOUR);
    await later(HOUR);
    expect(row()).toMatchObject({ state: 'unknown', verifications: 2 });
    expect(exchange.count('POST')).toBe(1);
    await later(HOUR);
    await later(0);
    expect(exchange.count('POST')).toBe(2);
  });

  it('never sends a third time: a second unknown outcome is verified to its end and held', async () => {
    const { program, exchange, later } = await sent('reset', resend);
    for (let look = 0; look < 40; look += 1) await later(DAY);
    expect(exchange.count('POST')).toBe(2);
    const verified = ['sending', 'unknown', 'held'];
    expect(program.states('a')).toEqual([...verified, 'pending', ...verified]);
  });

  it('does not send again what the process was sending again when it died', async () => {
    const { program, exchange, later } = await sent('reset', resend);
    for (let look = 0; look < 3; look += 1) await later(DAY);
    expect(program.row('a')).toMatchObject({ state: 'pending', resends: 1 });
    program.merchant.exec(
      `update merchant_orders set revision = revision + 1, state = 'sending', attempts = attempts + 1, next_action_at = null`,
    );
    await program.restart();
    for (let look = 0; look < 40; look += 1) await later(DAY);
    expect(exchange.count('POST')).toBe(1);
    expect(program.row('a')['state']).toBe('held');
  });

  it('does not send when the order appears before', async () => {
    const { exchange, answers, later, program } = await sent('reset', resend);
    await later(5 * SECOND);
    answers.lookup = record('a');
    await later(HOUR);
    await later(HOUR);
    expect(program.states('a')).toEqual(['sending', 'unknown', 'open']);
    expect(exchange.count('POST')).toBe(1);
  });
});
