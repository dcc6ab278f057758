import { describe, expect, it } from 'vitest';
import type { Judgement } from '../../../src/extensions/operate/rules/judgement.ts';
import type { OrderState } from '../../../src/orders/rules/states.ts';
import { createPass } from '../../../src/orders/create.ts';
import { followPass } from '../../../src/orders/follow.ts';
import {
  decideOrders,
  listTargets,
  type OperatorDeps,
  type OperatorResult,
} from '../../../src/extensions/operate/decide-orders.ts';
import { sweep } from '../../../src/findings/sweep.ts';
import { scriptedProgram } from '../../support/test-program.ts';
import {
  echo,
  NOT_FOUND,
  record,
  refusal,
  type ScriptedAnswer,
  type ScriptedExchange,
} from '../../support/scripted-exchange.ts';
import { DAY, HOUR, SECOND } from '../../support/tracking.ts';

const NEVER = new AbortController().signal;
const WHO = { actor: 'anna', reason: 'asked the exchange' };
const RETRY: Judgement = { kind: 'retry', mayDuplicate: true };

/** Orders beside an exchange whose answers the test sets, and a person with a connection of their own. */
async function desk(create?: ScriptedAnswer) {
  const { program, exchange } = await scriptedProgram();
  const answers: { create: ScriptedAnswer | undefined; lookup: ScriptedAnswer } = { create, lookup: NOT_FOUND };
  exchange.answer = (request) => (request.method === 'POST' ? (answers.create ?? echo(request)) : answers.lookup);
  const store = await program.database.open();
  const deps: OperatorDeps = { ...program.app, store };
  const action = (judgement: Judgement) => ({ judgement, ...WHO });
  return {
    program,
    exchange,
    answers,
    decide: (judgement: Judgement, ...ids: string[]) =>
      gathered(
        decideOrders(
          deps,
          ids.map((externalOrderId) => ({ externalOrderId })),
          action(judgement),
        ),
      ),
    list: (judgement: Judgement, state: OrderState) => listTargets(deps, { state, limit: 100 }, action(judgement)),
    decideListed: async (judgement: Judgement, listed: Awaited<ReturnType<typeof listTargets>>) =>
      await gathered(
        decideOrders(
          deps,
          listed.map(({ target }) => target),
          action(judgement),
        ),
      ),
    create: () => createPass(program.app, NEVER),
    /** Moves the clock, then looks due orders up. */
    later: async (ms: number) => {
      program.clock.advance(ms);
      await followPass(program.app, 'due', NEVER);
    },
  };
}

/** A desk with order `a`, whose create had no known outcome and which no look-up found. */
async function deskWithHeld() {
  const set = await desk(refusal(503));
  set.program.insert({ external_order_id: 'a' });
  await set.create();
  for (let days = 0; days < 11; days += 1) await set.later(DAY);
  expect(set.program.row('a')['state']).toBe('held');
  set.answers.create = undefined;
  return set;
}

/** The same desk while a look-up of `a` is under way. */
async function deskWithHeldAndLookUp() {
  const set = await deskWithHeld();
  const arrived = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<ScriptedAnswer>();
  set.exchange.answer = async (request) => {
    if (request.method === 'POST') return echo(request);
    arrived.resolve();
    return await answer.promise;
  };
  const pass = set.later(DAY);
  await arrived.promise;
  return {
    ...set,
    lookUpAnsweredBy: async (answered: ScriptedAnswer) => {
      answer.resolve(answered);
      await pass;
    },
  };
}

/** Has the exchange take requests, and answer them from `answer` on. */
function waiting(exchange: ScriptedExchange): { arrived: Promise<void>; answer: () => void } {
  const arrived = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  exchange.answer = async (request) => {
    arrived.resolve();
    await answer.promise;
    return echo(request);
  };
  return { arrived: arrived.promise, answer: answer.resolve };
}

async function gathered(results: AsyncIterable<OperatorResult>): Promise<OperatorResult[]> {
  const all: OperatorResult[] = [];
  for await (const result of results) all.push(result);
  return all;
}

function done(from: string, to: string): unknown {
  return { kind: 'done', externalOrderId: 'a', from, to };
}

describe('a held order', () => {
  it('that exists is followed under the id that the person gave, to its end', async () => {
    const { program, answers, decide, later, exchange } = await deskWithHeld();
    expect(await decide({ kind: 'exists', preOrderId: 'p7' }, 'a')).toEqual([done('held', 'accepted')]);
    expect(program.row('a')).toMatchObject({ state: 'accepted', pre_order_id: 'p7', state_reason: WHO.reason });
    answers.lookup = record('a');
    await later(5 * SECOND);
    expect(program.row('a')['state']).toBe('open');
    expect(exchange.count('POST')).toBe(1);
  });

  it('that was not created is sent once more, and only once', async () => {
    const { program, decide, create, later, exchange } = await deskWithHeld();
    expect(await decide({ kind: 'not-created' }, 'a')).toEqual([done('held', 'pending')]);
    await create();
    await create();
    await later(DAY);
    expect(program.states('a').slice(-4)).toEqual(['held', 'pending', 'sending', 'accepted']);
    expect(exchange.count('POST')).toBe(2);
  });

  it('that is sent again at a risk and refused is looked up, and found if the first was taken', async () => {
    const { program, answers, decide, create, later } = await deskWithHeld();
    await decide(RETRY, 'a');
    answers.create = refusal(400, 'there is one already');
    await create();
    expect(program.row('a')['state']).toBe('unknown');
    const findings = program.merchant.prepare('select class, status from findings').raw();
    expect(findings.all()).toEqual([['CREATE_UNKNOWN', 'open']]);
    answers.lookup = record('a');
    await later(5 * SECOND);
    expect(program.row('a')['state']).toBe('open');
    expect(findings.all()).toEqual([['CREATE_UNKNOWN', 'resolved']]);
  });

  it('that was not created is looked up if the exchange refuses it: the person may have been wrong', async () => {
    const { program, answers, decide, create, later, exchange } = await deskWithHeld();
    await decide({ kind: 'not-created' }, 'a');
    answers.create = refusal(400, 'there is one already');
    await create();
    expect(program.row('a')['state']).toBe('unknown');
    answers.lookup = record('a');
    await later(5 * SECOND);
    expect(program.row('a')['state']).toBe('open');
    expect(exchange.count('POST')).toBe(2);
  });

  it('that is abandoned is looked at a few times more, and an order that appears all the same is a finding', async () => {
    const { program, answers, decide, later } = await deskWithHeld();
    await decide({ kind: 'abandoned' }, 'a');
    answers.lookup = record('a');
    await later(HOUR);
    expect(program.row('a')['state']).toBe('open');
    expect(program.events('a')).toContain('finding null → UNEXPECTED_ORDER');
  });

  it('is not given the pre-order of another order', async () => {
    const { program, decide, create } = await deskWithHeld();
    program.insert({ external_order_id: 'b' });
    await create();
    const preOrderId = String(program.row('b')['pre_order_id']);
    expect(await decide({ kind: 'exists', preOrderId }, 'a')).toEqual([
      { kind: 'passed-over', externalOrderId: 'a', state: 'held', why: 'the pre-order belongs to the order "b"' },
    ]);
    expect(program.row('a')['state']).toBe('held');
  });
});

describe("a person's decision", () => {
  it('is history: who, why, from which state to which, both moves if it goes by way of held', async () => {
    const { program, create, decide } = await desk(refusal(503));
    program.insert({ external_order_id: 'a' });
    await create();
    await decide(RETRY, 'a');
    const events = program.merchant
      .prepare(
        'select old_value, new_value, source, reason, actor, observed_at from order_events where actor is not null',
      )
      .raw()
      .all();
    const now = program.clock.now().toISOString();
    expect(events).toEqual([
      ['unknown', 'held', 'operator', WHO.reason, WHO.actor, now],
      ['held', 'pending', 'operator', WHO.reason, WHO.actor, now],
    ]);
  });

  it('tells of each id what became of it, in their order, also of one that is not in the table', async () => {
    const { program, decide } = await desk();
    for (let index = 0; index < 120; index += 1) program.insert({ external_order_id: `order-${index}` });
    const ids = ['nowhere', ...Array.from({ length: 120 }, (_, index) => `order-${index}`)];
    const results = await decide({ kind: 'cancel' }, ...ids);
    expect(results.map(({ externalOrderId }) => externalOrderId)).toEqual(ids);
    expect(results[0]).toMatchObject({ kind: 'passed-over', why: 'there is no such order in the table' });
    expect(results.slice(1).every(({ kind }) => kind === 'done')).toBe(true);
    expect(program.row('order-119')['state']).toBe('cancelled');
  });

  it.each([[{ kind: 'exists', preOrderId: 'p7' }], [{ kind: 'abandoned' }]] as const)(
    'ends the finding of the unknown outcome: %j',
    async (judgement) => {
      const { program, decide } = await deskWithHeld();
      const findings = program.merchant.prepare('select class, status, resolved_at from findings').raw();
      expect(findings.all()).toEqual([['CREATE_UNKNOWN', 'open', null]]);
      await decide(judgement, 'a');
      expect(findings.all()).toEqual([['CREATE_UNKNOWN', 'resolved', program.clock.now().toISOString()]]);
    },
  );

  it.each([[{ kind: 'not-created' }], [RETRY]] as const)(
    'to send it again leaves that finding, until a create is accepted: %j',
    async (judgement) => {
      const { program, answers, decide, create } = await deskWithHeld();
      const finding = program.merchant.prepare(`select status from findings where class = 'CREATE_UNKNOWN'`).pluck();
      const statuses = () => finding.all();
      await decide(judgement, 'a');
      expect(statuses()).toEqual(['open']);
      answers.create = refusal(429);
      await create();
      expect([program.row('a')['state'], statuses()]).toEqual(['pending', ['open']]);
      await sweep(program.app, NEVER);
      expect(statuses()).toEqual(['open']);
      answers.create = undefined;
      program.clock.advance(DAY);
      await create();
      expect([program.row('a')['state'], statuses()]).toEqual(['accepted', ['resolved']]);
    },
  );

  it('is made once if two people make it at the same time', async () => {
    const { program, decide, create, exchange } = await deskWithHeld();
    const results = await Promise.all([decide(RETRY, 'a'), decide({ kind: 'not-created' }, 'a')]);
    expect(results.flat().map(({ kind }) => kind)).toEqual(['done', 'passed-over']);
    await create();
    expect(program.row('a')['state']).toBe('accepted');
    expect(exchange.count('POST')).toBe(2);
  });
});

describe('a decision beside a create pass', () => {
  it('leaves an order alone whose create is in flight, and its outcome is recorded', async () => {
    const { program, exchange, create, decide } = await desk();
    program.insert({ external_order_id: 'a' });
    const { arrived, answer } = waiting(exchange);
    const pass = create();
    await arrived;
    const judgements: Judgement[] = [RETRY, { kind: 'not-created' }, { kind: 'cancel' }, { kind: 'abandoned' }];
    for (const judgement of judgements) {
      expect(await decide(judgement, 'a')).toEqual([
        {
          kind: 'passed-over',
          externalOrderId: 'a',
          state: 'sending',
          why: expect.stringMatching(/^it is being sent/),
        },
      ]);
    }
    answer();
    await pass;
    expect(program.states('a')).toEqual(['sending', 'accepted']);
    expect(exchange.count('POST')).toBe(1);
  });

  it('keeps an order that was cancelled in the middle of the pass from being sent', async () => {
    const { program, exchange, create, decide } = await desk();
    const ids = Array.from({ length: 60 }, (_, index) => `order-${String(index).padStart(2, '0')}`);
    program.insert(...ids.map((external_order_id) => ({ external_order_id })));
    const { arrived, answer } = waiting(exchange);
    const pass = create();
    await arrived;
    expect(await decide({ kind: 'cancel' }, 'order-59')).toMatchObject([{ kind: 'done', to: 'cancelled' }]);
    answer();
    await pass;
    expect(exchange.requests.map(({ externalOrderId }) => externalOrderId)).not.toContain('order-59');
    expect(exchange.count('POST')).toBe(59);
    expect(program.states('order-59')).toEqual(['cancelled']);
  });

  it('is not undone by a look-up that was under way and finds nothing', async () => {
    const { program, decide, create, lookUpAnsweredBy } = await deskWithHeldAndLookUp();
    await decide({ kind: 'not-created' }, 'a');
    await lookUpAnsweredBy(NOT_FOUND);
    expect(program.row('a')).toMatchObject({ state: 'pending', verifications: 0 });
    expect(program.states('a').slice(-2)).toEqual(['held', 'pending']);
    await create();
    expect(program.row('a')['state']).toBe('accepted');
  });

  it.each([
    ['open', {}],
    ['final', { completionDate: '2026-01-01T00:00:00.000Z', serverDate: '2026-01-02T00:00:00.000Z' }],
  ] as const)('to send it again does not outlive a look-up under way that finds the order %s', async (to, dates) => {
    const { program, exchange, decide, create, lookUpAnsweredBy } = await deskWithHeldAndLookUp();
    await decide(RETRY, 'a');
    await lookUpAnsweredBy(record('a', { status: 'DONE', ...dates }));
    expect(program.states('a').slice(-3)).toEqual(['held', 'pending', to]);
    program.clock.advance(DAY);
    await create();
    expect(exchange.count('POST')).toBe(1);
    const finding = program.merchant.prepare(`select status from findings where class = 'CREATE_UNKNOWN'`).pluck();
    expect(finding.all()).toEqual(['resolved']);
  });
});

describe('orders of one state together', () => {
  it('are listed with what would become of each, and nothing is written', async () => {
    const { program, list } = await deskWithHeld();
    const before = program.events('a');
    const listed = await list({ kind: 'retry', mayDuplicate: false }, 'held');
    expect(listed.map(({ result }) => result)).toMatchObject([{ kind: 'passed-over', state: 'held' }]);
    expect((await list({ kind: 'not-created' }, 'held')).map(({ result }) => result)).toEqual([
      done('held', 'pending'),
    ]);
    expect(await list({ kind: 'not-created' }, 'unknown')).toEqual([]);
    expect(program.events('a')).toEqual(before);
  });

  it('are passed over if they changed since they were listed', async () => {
    const { answers, list, decideListed, later } = await deskWithHeld();
    const listed = await list({ kind: 'not-created' }, 'held');
    answers.lookup = record('a');
    await later(DAY);
    expect(await decideListed({ kind: 'not-created' }, listed)).toEqual([
      {
        kind: 'passed-over',
        externalOrderId: 'a',
        state: 'open',
        why: 'it was held when it was listed and is open now',
      },
    ]);
  });

  it('are passed over if they were sent again since, although they stand as they did', async () => {
    const { program, answers, list, decideListed, decide, create, later } = await deskWithHeld();
    const listed = await list({ kind: 'not-created' }, 'held');
    await decide({ kind: 'not-created' }, 'a');
    answers.create = refusal(503);
    await create();
    for (let days = 0; days < 11; days += 1) await later(DAY);
    expect(program.row('a')['state']).toBe('held');
    expect(await decideListed({ kind: 'not-created' }, listed)).toMatchObject([
      { kind: 'passed-over', state: 'held', why: 'it was sent again since it was listed' },
    ]);
  });
});
