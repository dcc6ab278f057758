import { endpointsOf } from '../../../src/extensions/clients/endpoints/endpoints.ts';
import { describe, expect, it, vi } from 'vitest';
import { createPass } from '../../../src/orders/create.ts';
import { Activities, lookupFacts, type Activity } from '../../../src/extensions/health/activity.ts';
import type { ProcessEvent } from '../../../src/orders/pass/process-events.ts';
import { NOT_FOUND, record } from '../../support/scripted-exchange.ts';
import { testClock } from '../../support/test-clock.ts';
import { acceptedOrders, scriptedProgram } from '../../support/test-program.ts';
import { MINUTE, SECOND } from '../../support/tracking.ts';

const { signal } = new AbortController();

/** The events of a kind that an account has told of, from now on. */
function heard<Kind extends ProcessEvent['kind']>(activity: Activity, kind: Kind) {
  const hear = vi.spyOn(activity, 'hear');
  const isOfKind = (event: ProcessEvent): event is Extract<ProcessEvent, { kind: Kind }> => event.kind === kind;
  return () => hear.mock.calls.map(([event]) => event).filter(isOfKind);
}

describe('what an account does', () => {
  it('is known of each request: its operation, what came of it, and the wait for its turn', async () => {
    const { program, exchange } = await scriptedProgram();
    const { exchange: client } = program.app;
    const { activity } = program;
    const [ended, turned] = [heard(activity, 'request.ended'), heard(activity, 'turn.came')];
    program.insert({ external_order_id: 'a' });
    await createPass(program.app, signal);
    exchange.answer = () => NOT_FOUND;
    await client.lookUpOrder('a');
    await endpointsOf(client).showLink('link-1');
    await endpointsOf(client).verificationToken('link-1', 'MAIN');
    expect(ended().map(({ operation, outcome }) => [operation, outcome])).toEqual([
      ['create_pre_order', 'ok'],
      ['look_up_order', 'refused'],
      ['show_link', 'refused'],
      ['verification_token', 'refused'],
    ]);
    expect(turned().map(({ lane }) => lane)).toEqual(['create', 'lookup', 'person', 'person']);
    expect(activity.inFlight).toBe(0);
  });

  it.each([
    ['a refusal', 'refused', NOT_FOUND, true],
    ['429', 'rate-limited', { status: 429 }, true],
    ['a refused key', 'key-refused', { status: 401 }, true],
    ['a 5xx', 'unknown', { status: 502 }, false],
    ['no answer', 'unknown', 'reset', false],
  ] as const)('tells of %s whether the exchange answered', async (_name, outcome, answer, isAnswered) => {
    const { program, exchange } = await scriptedProgram();
    exchange.answer = () => answer;
    const { activity } = program;
    const ended = heard(activity, 'request.ended');
    await program.app.exchange.lookUpOrder('a');
    expect(ended()).toMatchObject([{ outcome, isAnswered }]);
    expect(activity.answeredAt).toBe(isAnswered ? program.clock.now().toISOString() : null);
  });

  it('is known of each change that a look-up sees: how long it was there', async () => {
    const { program, answers, lookUp } = await acceptedOrders(['a']);
    const changes = heard(program.activity, 'change.seen');
    const changed = (status: string, modificationDate?: string) =>
      void answers.set('a', record('a', { status, modificationDate }));
    changed('REQUEST', program.clock.now().toISOString());
    await lookUp(MINUTE);
    changed('PAID', program.clock.now().toISOString());
    await lookUp(7 * SECOND);
    // Nothing changed, and a change whose time is not known.
    await lookUp(MINUTE);
    changed('SENT');
    await lookUp(MINUTE);
    expect(changes().map(({ lateMs }) => lateMs)).toEqual([MINUTE, 7 * SECOND]);
  });
});

describe('the use of the rate', () => {
  it('is that of the last ten seconds, of all accounts that share a limit', () => {
    const clock = testClock();
    const activities = new Activities(clock);
    const request = {
      kind: 'request.ended',
      operation: 'look_up_order',
      outcome: 'ok',
      tookMs: 5,
      isAnswered: true,
    } as const;
    const ask = (account: string) => activities.of(account).hear(request);
    const account = (name: string, rateGroup?: string) =>
      ({ name, rateGroup, exchange: { rate: { requests: 3, interval: 2 * SECOND } } }) as never;
    const accounts = [account('a', 'group'), account('b', 'group'), account('c')];
    const use = (name?: string) => lookupFacts(activities, { accounts, exchange: {} as never }, name).rate;
    ask('a');
    clock.advance(5 * SECOND);
    for (const name of ['a', 'b', 'b', 'c']) ask(name);
    expect(use('a')).toEqual({ spent: 4, requests: 15, intervalMs: 10_000 });
    expect([use('c').spent, use().spent, use().requests]).toEqual([1, 5, 30]);
    clock.advance(5 * SECOND);
    expect([use('a').spent, use('b').spent]).toEqual([3, 3]);
    clock.advance(10 * SECOND);
    expect(use().spent).toBe(0);
  });
});

describe('a pass', () => {
  it('is wanted until one has ended well', () => {
    const clock = testClock();
    const activity = new Activities(clock).of('a');
    const began = clock.now().toISOString();
    activity.hear({ kind: 'pass.wanted', pass: 'create' });
    clock.advance(SECOND);
    activity.hear({ kind: 'pass.wanted', pass: 'create' });
    activity.hear({ kind: 'pass.began', pass: 'create' });
    expect(activity.passes.get('create')?.runningSince).toBe(clock.now().toISOString());
    activity.hear({ kind: 'pass.ended', pass: 'create', tookMs: 0, isGood: false });
    expect(activity.passes.get('create')).toEqual({ wantedSince: began, runningSince: null, goodAt: null });
    activity.hear({ kind: 'pass.ended', pass: 'create', tookMs: 0, isGood: true });
    expect(activity.passes.get('create')).toMatchObject({ wantedSince: null, goodAt: clock.now().toISOString() });
    activity.hear({ kind: 'pass.wanted', pass: 'create' });
    activity.close();
    expect(activity.passes.get('create')).toMatchObject({ wantedSince: null, goodAt: clock.now().toISOString() });
  });
});
