import { describe, expect, it } from 'vitest';
import { createPass } from '../../src/orders/create.ts';
import { runProgram } from '../support/cli-function.ts';
import { echo, refusal, type ScriptedAnswer, type ScriptedRequest } from '../support/scripted-exchange.ts';
import { scriptedProgram, settingsOf, type TestProgram } from '../support/test-program.ts';
import { MINUTE } from '../support/tracking.ts';

const NEVER = new AbortController().signal;
const NOT_WRITTEN = /outcome of a create is not recorded/;

/** An order that is about to be created, and an exchange that answers creates so. */
async function waiting(answer: (request: ScriptedRequest) => ScriptedAnswer = (request) => echo(request)) {
  const { program, exchange } = await scriptedProgram();
  exchange.answer = answer;
  program.insert({ external_order_id: 'a' });
  return {
    program,
    exchange,
    /** A create pass, `minutes` from now. */
    pass: async (minutes = 0) => {
      program.clock.advance(minutes * MINUTE);
      await createPass(program.app, NEVER);
    },
  };
}

/** A trigger of the merchant's that refuses a write. Returns a function that drops it. */
function refusing({ merchant }: TestProgram, write: string): () => void {
  merchant.exec(`create trigger of_the_merchant before ${write} begin select raise(abort, 'not now'); end`);
  return () => void merchant.exec('drop trigger of_the_merchant');
}

const NEW_STATE = (state: string) => `update of state on merchant_orders when new.state = '${state}'`;

describe('an answer that made a pre-order and cannot be read', () => {
  it.each([
    ['wrapped in another object', '{"data":{"id":"p1","externalOrderId":"a"}}', ['p1']],
    ['with a number for an id', '{"id": 12345678901234567890.10}', ['12345678901234567890.10']],
    ['about another order', '{"id":"p1","externalOrderId":"b"}', ['p1']],
    ['cut off', '{"preOrderId":"p1","asset":1', ['p1']],
    ['with two ids', '{"id":"p1","id":"p2","externalOrderId":"a"}', ['p1', 'p2']],
    ['without one', 'thank you', []],
  ])('is kept as received, and the ids in it are shown: %s', async (_name, body, ids) => {
    const { program, pass } = await waiting(() => ({ status: 201, body }));
    await pass();
    expect(program.row('a')['state']).toBe('unknown');
    const select = 'select operation, subject, http_status, body, received_at from kept_answers';
    expect(program.merchant.prepare(select).raw().all()).toEqual([
      ['createPreOrder', 'a', 201, body, program.clock.now().toISOString()],
    ]);
    expect(program.log.with(/outcome of a create is unknown/)).toMatchObject([{ externalOrderId: 'a', ids }]);
    const { stdout } = await runProgram(['orders', 'explain', 'a'], { environment: settingsOf(program) });
    for (const id of ids) expect(stdout).toContain(id);
  });

  it('is kept also if it is no UTF-8, each byte as a character', async () => {
    const body = '{"id":"p1","externalOrderId":"a","bank":"Société"}';
    const { program, pass } = await waiting(() => ({ status: 201, body: Buffer.from(body, 'latin1') }));
    await pass();
    expect(program.row('a')['state']).toBe('unknown');
    expect(program.merchant.prepare('select body from kept_answers').pluck().all()).toEqual([body]);
    expect(program.app.exchange.breaker('create').isOpen).toBe(false);
  });

  it.each<[string, ScriptedAnswer]>([
    ['a server error', { status: 500, body: '{"id":"p1"}' }],
    ['a reset', 'reset'],
    ['a success that can be read', { status: 200, body: '{"id":"p1","externalOrderId":"a"}' }],
  ])('is no other answer: %s', async (_name, answer) => {
    const { program, pass } = await waiting(() => answer);
    await pass();
    expect(program.merchant.prepare('select * from kept_answers').all()).toEqual([]);
  });
});

describe('an outcome that the database refuses', () => {
  it('is written without what goes with it', async () => {
    const { program, pass } = await waiting();
    refusing(program, 'insert on pre_orders');
    await pass();
    expect(program.row('a')).toMatchObject({ state: 'accepted', pre_order_id: 'p1' });
    expect(program.states('a')).toEqual(['sending', 'accepted']);
    expect(program.log.with(NOT_WRITTEN)).toEqual([]);
  });

  it('whole is logged, without the bodies of answers', async () => {
    const { program, pass } = await waiting((request) => echo(request, { paymentToken: 'canary', asset: 2 }));
    refusing(program, NEW_STATE('accepted'));
    await pass();
    expect(program.row('a')['state']).toBe('sending');
    expect(program.log.with(NOT_WRITTEN)).toMatchObject([
      { externalOrderId: 'a', outcome: { kind: 'accepted', preOrderId: 'p1', exchangeType: 'SELL' } },
    ]);
    expect(JSON.stringify(program.log.lines)).not.toContain('canary');
  });

  it('leaves the others what they are', async () => {
    const { program, pass } = await waiting();
    refusing(program, `${NEW_STATE('accepted')} and new.external_order_id = 'a'`);
    program.insert({ external_order_id: 'b' }, { external_order_id: 'c' });
    await pass();
    expect(['a', 'b', 'c'].map((id) => program.row(id)['state'])).toEqual(['sending', 'accepted', 'accepted']);
  });
});

describe('an order that is sending and not in flight', () => {
  it.each<[string, ScriptedAnswer | undefined, number]>([
    ['accepted', undefined, 1],
    ['rejected', refusal(400), 0],
  ])('has its outcome as soon as that can be written, while the program runs: %s', async (state, answer, preOrders) => {
    const { program, exchange, pass } = await waiting((request) => answer ?? echo(request));
    const drop = refusing(program, NEW_STATE(state));
    await pass();
    await pass(6);
    expect(program.row('a')['state']).toBe('sending');
    drop();
    await pass(4);
    expect(program.row('a')['state']).toBe('sending');
    await pass(2);
    expect(program.states('a')).toEqual(['sending', state]);
    expect(exchange.count('POST')).toBe(1);
    expect(program.merchant.prepare('select * from pre_orders').all()).toHaveLength(preOrders);
    expect(program.merchant.prepare('select class from findings').all()).toEqual([]);
  });

  it('is unknown while the program runs, if it was sent and its outcome would have it sent again', async () => {
    const { program, exchange, pass } = await waiting(() => ({ status: 429 }));
    const drop = refusing(program, NEW_STATE('pending'));
    await pass();
    drop();
    await pass(4);
    expect(program.row('a')['state']).toBe('sending');
    await pass(2);
    expect(program.states('a')).toEqual(['sending', 'unknown']);
    await pass(10);
    expect(exchange.count('POST')).toBe(1);
    const findings = program.merchant.prepare('select class, status from findings').raw();
    expect(findings.all()).toEqual([['CREATE_UNKNOWN', 'open']]);
  });

  it('is pending again if this process never sent it', async () => {
    const { program, exchange, pass } = await waiting();
    const drop = refusing(program, NEW_STATE('pending'));
    await exchange[Symbol.asyncDispose]();
    await pass();
    expect(program.row('a')['state']).toBe('sending');
    drop();
    await pass(6);
    expect(program.states('a')).toEqual(['sending', 'pending']);
    // Look-ups show that the exchange is still out of reach: no attempt more of the order.
    await pass(60);
    expect(program.states('a')).toEqual(['sending', 'pending']);
  });

  it('is unknown if another process wrote the intent', async () => {
    const { program, exchange, pass } = await waiting();
    const drop = refusing(program, NEW_STATE('pending'));
    await exchange[Symbol.asyncDispose]();
    await pass();
    drop();
    await program.restart();
    expect(program.states('a')).toEqual(['sending', 'unknown']);
  });

  it('is left alone while its request is under way, by every pass', async () => {
    const answer = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    const { program, exchange, pass } = await waiting();
    exchange.answer = async (request) => {
      arrived.resolve();
      await answer.promise;
      return echo(request);
    };
    const sending = pass();
    await arrived.promise;
    await pass();
    await pass();
    expect(program.states('a')).toEqual(['sending']);
    answer.resolve();
    await sending;
    expect(program.states('a')).toEqual(['sending', 'accepted']);
  });

  it('is left alone if another owner has taken over', async () => {
    const { program, pass } = await waiting();
    refusing(program, NEW_STATE('accepted'));
    await pass();
    program.merchant.exec('update account_owners set generation = generation + 1');
    await expect(pass(6)).rejects.toThrow('taken over');
    expect(program.states('a')).toEqual(['sending']);
  });
});
